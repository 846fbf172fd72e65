// Answers one question: how do the pages look. One sheet, served from our own address.

import { DOSSIER_STYLE } from './style-dossier.ts';

/** The style sheet of every page: light and dark, contrast of AA or better, no outside font. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ink: #17202a; --quiet: #566270; --paper: #fbfaf7; --card: #ffffff; --line: #d9dce1;
  --accent: #0b5c8a; --warn-ink: #6b3f00; --warn: #fff1d6; --code: #f1f3f5;
  --bad: #9c2f2f; --control: #7a8590;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e8eaed; --quiet: #a3adb8; --paper: #14181d; --card: #1b2027; --line: #343c46;
    --accent: #7cc4ee; --warn-ink: #ffd9a0; --warn: #40300f; --code: #232a33;
    --bad: #f0a0a0; --control: #8b96a2;
  }
}
* { box-sizing: border-box; }
html { font: 16px/1.55 ui-sans-serif, system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
body { margin: 0; background: var(--paper); color: var(--ink); }
main, .top, footer { max-width: 68rem; margin: 0 auto; padding: 0 1.25rem; }
.top { display: flex; gap: 1.5rem; align-items: baseline; padding-top: 1rem; padding-bottom: 1rem;
  border-bottom: 1px solid var(--line); }
.mark { font: 600 1.25rem/1 Georgia, "Times New Roman", serif; letter-spacing: .01em;
  color: var(--ink); text-decoration: none; }
nav a { margin-right: 1rem; }
.top nav a { display: inline-block; white-space: nowrap; }
a { color: var(--accent); }
a[aria-current] { color: var(--ink); text-decoration: none; font-weight: 600; }
a:focus-visible, summary:focus-visible, pre:focus-visible { outline: 3px solid var(--accent);
  outline-offset: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--card); padding: .5rem 1rem; }
.simulated { margin: 0; padding: .6rem 1.25rem; background: var(--warn); color: var(--warn-ink);
  text-align: center; }
h1 { font: 600 2rem/1.2 Georgia, "Times New Roman", serif; margin: 2rem 0 .75rem; }
h2 { font-size: 1.15rem; margin: 0 0 .5rem; overflow-wrap: anywhere; }
.lead { font-size: 1.1rem; max-width: 46rem; }
.quiet, footer { color: var(--quiet); }
footer { margin-top: 3rem; padding-bottom: 2rem; border-top: 1px solid var(--line);
  font-size: .9rem; }
code { font: .92em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { background: var(--code); padding: .8rem 1rem; border-radius: .4rem; overflow-x: auto; }
.contents ul { list-style: none; padding: 0; }
.contents a { display: inline-block; padding: .15rem 0; text-decoration: none; }
.contents a:hover { text-decoration: underline; }
.verb { font: 600 .8rem/1 ui-monospace, Menlo, Consolas, monospace; display: inline-block;
  min-width: 3.2rem; color: var(--quiet); }
.route { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: 1.25rem; margin: 1.5rem 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .75rem 0; font-size: .92rem; }
caption { text-align: left; font-weight: 600; padding: .25rem 0; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0;
  border-bottom: 1px solid var(--line); }
th { color: var(--quiet); font-weight: 600; }
td { overflow-wrap: anywhere; min-width: 5.5rem; }
td:first-child { min-width: 12rem; }
table.tight td, table.tight td:first-child { min-width: 4.5rem; }
td.sources { min-width: 15rem; }
td.whole, .state { white-space: nowrap; }
details { border-top: 1px solid var(--line); padding: .6rem 0; }
summary { cursor: pointer; }
.status { font-weight: 600; display: inline-block; min-width: 2.6rem; }
.state { font-weight: 600; }
.state.stale, .state.never_loaded, .state.unreadable { color: var(--bad); }
.search { display: flex; flex-wrap: wrap; gap: .5rem; align-items: end; margin: 1.25rem 0 .5rem; }
.search label { flex: 1 0 100%; color: var(--quiet); font-size: .9rem; }
.search input { flex: 1 1 16rem; }
input, button { font: inherit; color: inherit; background: var(--card); padding: .45rem .7rem;
  border: 1px solid var(--control); border-radius: .4rem; min-width: 0; }
button { background: var(--accent); border-color: var(--accent); color: var(--paper);
  font-weight: 600; cursor: pointer; }
input:focus-visible, button:focus-visible { outline: 3px solid var(--accent);
  outline-offset: 2px; }
.entries { list-style: none; padding: 0; margin: 1rem 0; }
.entries li { padding: 1rem 0; border-top: 1px solid var(--line); }
.entries p { margin: .2rem 0; max-width: 46rem; }
.nothing { border: 1px dashed var(--control); border-radius: .6rem; padding: 1.25rem; }
.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .3rem 1.25rem;
  margin: 1.25rem 0; padding: 1rem 0; border-top: 1px solid var(--line);
  border-bottom: 1px solid var(--line); }
.facts dt { color: var(--quiet); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.prose { max-width: 46rem; overflow-wrap: anywhere; }
.prose table { display: block; overflow-x: auto; }
.prose td, .prose td:first-child { min-width: 6rem; overflow-wrap: normal; }
.prose h2 { font-size: 1.3rem; margin: 1.75rem 0 .5rem; }
.prose h3 { margin: 1.5rem 0 .4rem; }
.prose blockquote { margin: 1rem 0; padding-left: 1rem; border-left: 3px solid var(--line);
  color: var(--quiet); }
.plot { margin: 1.5rem 0; max-width: 34rem; }
.plot svg { display: block; width: 100%; height: auto; }
.plot text { fill: var(--quiet); font: 12px ui-sans-serif, system-ui, sans-serif; }
.plot .grid { stroke: var(--line); }
.plot .even { stroke: var(--quiet); stroke-dasharray: 4 4; }
.plot .range { stroke: var(--accent); stroke-width: 2; }
.plot circle { fill: var(--accent); stroke: var(--accent); stroke-width: 2; }
.plot .assumed circle { fill: var(--paper); }
.plot .number { fill: var(--ink); font-weight: 600; }
.plot .listed { fill: var(--code); stroke: var(--control); }
.plot .died { fill: var(--bad); }
.plot.months { margin: 0; max-width: 32rem; }
.plot.months circle { fill: var(--bad); stroke: var(--bad); }
.plot.months .range { stroke: var(--bad); }
.charts { display: grid; gap: 2rem;
  grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); }
.lead.subject { max-width: none; overflow-wrap: anywhere; }
.state.died { color: var(--bad); }
.section { font-size: 1.3rem; margin: 2.5rem 0 .5rem; }
.notice { background: var(--warn); color: var(--warn-ink); padding: .6rem 1rem;
  border-radius: .4rem; }
.unread { border-color: var(--bad); border-width: 2px; }
.quiet-window { border-style: solid; }
.flags p { overflow-wrap: anywhere; }
.flags h2, .flags h3 { font-size: 1rem; font-weight: 600; }
.score strong { font-size: 1.25rem; }
figcaption { color: var(--quiet); font-size: .92rem; }
.guide { display: grid; grid-template-columns: 13rem minmax(0, 1fr); gap: 0 2.5rem; }
.guide nav { padding-top: 2.4rem; font-size: .92rem; }
.guide nav h2 { color: var(--quiet); font-size: .85rem; margin: 1rem 0 .2rem; }
.guide nav ul { margin: 0; }
.guide pre { overflow-wrap: normal; }
@media (max-width: 56rem) { .guide { grid-template-columns: minmax(0, 1fr); }
  .guide nav { order: 2; border-top: 1px solid var(--line); margin-top: 2rem; padding-top: 0; } }
h3 { font-size: 1rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
section { margin: 2.25rem 0; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.headed { display: flex; align-items: baseline; justify-content: space-between; gap: 1rem; }
.panel { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: 1.25rem; }
form.panel { max-width: 28rem; }
.field { display: grid; gap: .3rem; margin: 0 0 1rem; }
.field .quiet { font-size: .9rem; }
.field label { font-weight: 600; }
.notice { background: var(--warn); color: var(--warn-ink); border-radius: .4rem;
  padding: .7rem 1rem; max-width: 46rem; }
a.button { display: inline-block; background: var(--accent); color: var(--paper); font-weight: 600;
  text-decoration: none; padding: .45rem .9rem; border-radius: .4rem; }
a.button:focus-visible, select:focus-visible { outline: 3px solid var(--accent);
  outline-offset: 2px; }
button.plain { background: none; color: var(--accent); border-color: var(--control); }
button.danger { background: var(--bad); border-color: var(--bad); }
select { font: inherit; color: inherit; background: var(--card); padding: .45rem .7rem;
  border: 1px solid var(--control); border-radius: .4rem; }
.plans { list-style: none; padding: 0; margin: 2rem 0; display: grid; gap: 1.25rem;
  grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); }
.plans h2 { font: 600 1.35rem/1.2 Georgia, "Times New Roman", serif; }
.plans .panel { display: flex; flex-direction: column; }
.plans .panel p:last-child { margin: auto 0 0; padding-top: 1rem; }
.plans .facts { border-bottom: 0; margin-bottom: 0; padding-bottom: 0; }
.figure { font-size: 1.6rem; font-weight: 600; margin: .25rem 0; }
.figure .quiet { font-size: 1rem; font-weight: 400; }
.keys { list-style: none; padding: 0; margin: 1.25rem 0; display: grid; gap: .75rem; }
.keys .panel { padding: 1rem 1.25rem; }
.panel > :last-child { margin-bottom: 0; }
.keys p { margin: 0; }
.keys code { color: var(--quiet); font-weight: 400; }
fieldset { border: 1px solid var(--line); border-radius: .4rem; margin: 0 0 .8rem; }
fieldset label { display: inline-block; margin-right: .8rem; }
.actions { display: flex; flex-wrap: wrap; align-items: start; gap: 0 1.5rem; margin-top: .5rem; }
.actions details { border: 0; padding: 0; }
.actions details[open] { flex: 1 0 100%; }
.actions summary { color: var(--accent); width: max-content; }
.actions form { display: flex; flex-wrap: wrap; align-items: center; gap: .6rem; padding: .6rem 0; }
pre.secret { user-select: all; font-size: 1.05rem; white-space: pre-wrap; overflow-wrap: anywhere;
  border: 1px solid var(--control); }
.plot.wide { max-width: 46rem; margin: 1rem 0; }
.plot .bar { fill: var(--accent); }
@media (max-width: 40rem) { .plot.wide text { font-size: 22px; } }
@media (max-width: 40rem) { .top { flex-wrap: wrap; } .route { padding: 1rem .8rem; } }
pre.whole-text { white-space: pre-wrap; overflow-wrap: anywhere; }
@media print { .record { font-size: 10pt; } .record section { break-inside: avoid; }
  .record pre { border: 1px solid var(--line); } }
${DOSSIER_STYLE}`;
