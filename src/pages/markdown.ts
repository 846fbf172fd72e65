// Answers one question: how does Markdown become part of a page? As CommonMark with tables: its own
// HTML is shown as text, links lead to web pages and places of ours alone, and no picture is
// fetched from anywhere.

import markdownIt from 'markdown-it';

const markdown = markdownIt('default', { html: false, linkify: false, typographer: false });
const LINKED = /^(?:https?:\/\/|mailto:|\/(?!\/)|#)/i;
markdown.validateLink = (url) => LINKED.test(url);
markdown.disable('image');

/** HTML of a text whose own HTML is not trusted. Its first heading is of the level below h1. */
export function renderMarkdown(text: string): string {
  return markdown.render(text).replaceAll(/<(\/?)h([1-5])>/g, (_, end: string, level: string) => {
    return `<${end}h${Number(level) + 1}>`;
  });
}
