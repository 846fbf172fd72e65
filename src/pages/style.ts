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
nav a { margin-right: .75rem; }
.top nav ul { list-style: none; margin: 0; padding: 0; }
.top nav a { display: inline-block; white-space: nowrap; padding: .1rem 0; }
.top nav span { display: block; color: var(--quiet); font-size: .8rem; }
.top nav:popover-open { position: fixed; inset: 4rem .75rem auto; width: auto; max-height: 80vh;
  margin: 0; padding: 1rem; overflow: auto; display: grid; grid-template-columns: 1fr 1fr;
  gap: 1rem; background: var(--card); color: var(--ink); border: 1px solid var(--control);
  border-radius: .6rem; box-shadow: 0 .5rem 2rem rgb(0 0 0 / .35); }
.top nav:popover-open a { padding: .35rem 0; }
@media screen and (min-width: 40.01rem) { .top .menu { display: none; }
  .top nav[popover] { position: static; display: flex; flex-wrap: wrap; gap: .4rem 1.15rem;
    padding: 0; margin: 0; border: 0; overflow: visible; background: none; color: inherit; }
  .top nav[popover] ul { display: flex; flex-wrap: wrap; }
  .top nav[popover] li:last-child a { margin-right: 0; }
  .scroll table.tight td.provider:first-child { min-width: 12rem; } }
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
td.number, th.number { font-variant-numeric: tabular-nums; }
@media (min-width: 40.01rem) { td.number, th.number { text-align: right; padding-right: 1.5rem; }
  table.tight td.number { min-width: 0; white-space: nowrap; } }
details { border-top: 1px solid var(--line); padding: .6rem 0; }
summary { cursor: pointer; }
.status { font-weight: 600; display: inline-block; min-width: 2.6rem; }
.state { font-weight: 600; }
.state.stale, .state.frozen, .state.never_loaded, .state.unreadable { color: var(--bad); }
.search { display: flex; flex-wrap: wrap; gap: .5rem; align-items: end; margin: 1.25rem 0 .5rem; }
.search label { flex: 1 0 100%; color: var(--quiet); font-size: .9rem; }
.search input { flex: 1 1 16rem; }
input, button, textarea { font: inherit; color: inherit; background: var(--card);
  padding: .45rem .7rem; border: 1px solid var(--control); border-radius: .4rem; min-width: 0; }
button { white-space: nowrap;
  background: var(--accent); border-color: var(--accent); color: var(--paper);
  font-weight: 600; cursor: pointer; }
input:focus-visible, button:focus-visible, textarea:focus-visible {
  outline: 3px solid var(--accent);
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
.prose td, .prose th { min-width: 0; overflow-wrap: normal; }
.prose td:first-child { min-width: 8rem; }
.prose td code { overflow-wrap: anywhere; }
@media (min-width: 56.01rem) { .prose td:first-child { min-width: 11.5rem; } }
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
form.panel { max-width: 28rem; } form.panel.rule { max-width: 46rem; }
.rule textarea { font: .95rem/1.5 ui-monospace, Menlo, Consolas, monospace; width: 100%; }
.rule textarea[aria-invalid="true"] { border-color: var(--bad); }
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
.plot .curve { fill: none; stroke: var(--accent); stroke-width: 2; }
.plot .fall { fill: var(--bad); fill-opacity: .35; stroke: var(--bad); }
.plot .said { stroke: var(--ink); stroke-width: 2; }
.plot .mark { fill: var(--paper); stroke: var(--ink); stroke-width: 1.5; }
.plot .mark.hit { fill: var(--ink); }
.plot .mark.open { fill: none; stroke: var(--control); }
form.asking { display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: end;
  margin: 1.25rem 0; }
form.asking .field { margin: 0; }
form.asking input { width: 8rem; margin: 0; }
form.asking input, form.asking select, form.asking button { height: 2.6rem; }
@media (max-width: 40rem) { .plot.wide text { font-size: 22px; } }
@media (max-width: 40rem) { .top { flex-wrap: wrap; } .route { padding: 1rem .8rem; } }
pre.whole-text { white-space: pre-wrap; overflow-wrap: anywhere; }
@media print { .record { font-size: 10pt; } .record section { break-inside: avoid; }
  .record pre { border: 1px solid var(--line); } }

.eyebrow { margin: 2rem 0 .25rem; color: var(--quiet); font-size: .85rem; letter-spacing: .06em;
  text-transform: uppercase; }
.dossier h1 { margin: 0 0 .5rem; font-size: clamp(1.1rem, 3.6vw, 1.65rem); line-height: 1.3; }
.dossier h1 code { font-size: 1em; overflow-wrap: anywhere; }
.dossier .lead { margin: .25rem 0; }
.says { font-size: 1.1rem; margin: .25rem 0 .75rem; overflow-wrap: anywhere; }
.says.hit { color: var(--bad); font-weight: 600; }
.says.open { color: var(--quiet); }
.badge { display: inline-block; font: 600 .75rem/1.5 ui-sans-serif, system-ui, sans-serif;
  padding: .05rem .5rem; border-radius: 1rem; border: 1px solid var(--control); color: var(--ink);
  white-space: nowrap; vertical-align: .1em; }
.badge.hit { background: var(--bad); border-color: var(--bad); color: var(--paper); }
.badge.seen { background: var(--accent); border-color: var(--accent); color: var(--paper); }
.badge.inferred { border-color: var(--accent); color: var(--accent); }
.badge.open { border-style: dashed; color: var(--quiet); }
.frame::part(glance) { margin: 1.5rem 0 2rem; }
.frame::part(title) { font-size: 1.15rem; margin: 0 0 .5rem; }
.frame::part(lines) { margin: .75rem 0; display: grid; gap: .75rem;
  grid-template-columns: repeat(auto-fit, minmax(min(15.5rem, 100%), 1fr)); }
.frame::part(quiet), .frame::part(wait) { color: var(--quiet); }
.frame::part(wait) { border: 1px dashed var(--control); border-radius: .6rem; margin: 0;
  padding: .5rem .9rem; font-size: .92rem; }
.line { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  border-top: .25rem solid var(--control); padding: .7rem .9rem .8rem; }
.line.hit { border-top-color: var(--bad); }
.line.seen { border-top-color: var(--accent); }
.line.inferred { border-top: .25rem double var(--accent); }
.line.open { background: none; border-style: dashed; border-top-width: 1px;
  border-color: var(--control); padding-top: .9rem; }
.line a { display: block; font-weight: 600; margin-top: .35rem; }
.line p { margin: .2rem 0 0; font-size: .92rem; overflow-wrap: anywhere; display: -webkit-box;
  -webkit-line-clamp: 4; -webkit-box-orient: vertical; overflow: hidden; }
.line.open p { color: var(--quiet); }
details.full { display: inline; border: 0; padding: 0; }
details.full > summary { display: inline-block; list-style: none; width: 1.5rem; height: 1.5rem;
  line-height: 1.3rem; text-align: center; color: var(--quiet); vertical-align: middle; }
details.full > summary::-webkit-details-marker { display: none; }
details.full > summary::before { content: "\\22ef"; }
details.full[open] > summary::before { content: "\\00d7"; }
details.full > code { user-select: all; overflow-wrap: anywhere; }
button.copy { font-size: .85rem; padding: .1rem .5rem; vertical-align: middle; }
.dossier h1 button.copy { font-family: ui-sans-serif, system-ui, sans-serif; }
.explorers { margin: 0; }
.legend { font-size: .85rem; margin: .25rem 0; }
.part { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: 1.25rem 1.5rem; margin: 1.5rem 0; scroll-margin-top: 1rem; }
.part.untold { background: none; border-style: dashed; border-color: var(--control); }
.part.untold .nothing { border: 0; padding: 0; }
.part > header { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: baseline; }
.part > header h2 { font: 600 1.35rem/1.25 Georgia, "Times New Roman", serif; margin: 0; }
.part h3 { margin: 1.75rem 0 .35rem; font-size: 1.05rem; }
.part > footer { border-top: 1px solid var(--line); margin: 1.5rem 0 0; padding: .75rem 0 0; }
.part > footer > p { margin: .5rem 0 0; }
.part > footer details { border: 0; padding: .25rem 0; }
.cells { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(15rem, 100%), 1fr));
  gap: .75rem 1.5rem; margin: 1rem 0; }
.cells dt { color: var(--quiet); font-size: .85rem; }
.cells dd { margin: 0; overflow-wrap: anywhere; }
.cells.match { border-left: 3px solid var(--bad); padding-left: 1rem; }
.caveat { border-left: 3px solid var(--control); padding: .1rem 0 .1rem 1rem; margin: 1rem 0;
  color: var(--quiet); max-width: 52rem; font-size: .95rem; }
details.caveat { border-top: 0; }
.caveat > summary { list-style: none; cursor: auto; }
.caveat > summary::-webkit-details-marker { display: none; }
.unchecked { border: 1px dashed var(--control); border-radius: .4rem; padding: .5rem .8rem;
  margin: .75rem 0; font-size: .95rem; overflow-wrap: anywhere; }
.rests { margin: 0 0 .5rem; font-size: .9rem; }
.rests > div { display: flex; flex-wrap: wrap; gap: 0 1rem; justify-content: space-between;
  padding: .15rem 0; }
.rests dt { overflow-wrap: anywhere; }
.rests dd { margin: 0; color: var(--quiet); }
.cut { display: inline-block; max-width: 11rem; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap; vertical-align: bottom; }
.value { display: inline-block; max-width: 28rem; }
.findings { padding-left: 1.25rem; }
.findings li { margin: 1rem 0; }
.findings h3 { margin: 0 0 .25rem; }
.findings p { margin: .15rem 0; overflow-wrap: anywhere; }
.findings > li > p { display: inline; margin-right: .4rem; }
.findings > li > details { border: 0; padding: 0; }
.findings > li > details:not([open]) { display: inline-block; margin-right: .4rem; }
.findings > li > details > summary { color: var(--accent); list-style: none; }
.findings > li > details > summary::-webkit-details-marker { display: none; }
.chains a { display: inline-block; margin-right: .6rem; }
h1 { overflow-wrap: anywhere; }
.route h1 { font-size: 1.35rem; margin-top: 0; }
main p, main dd, main li { overflow-wrap: anywhere; }
.scroll:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.scroll table.tight td, .scroll table.tight td:first-child { min-width: 5rem; }
.scroll table.tight td time { white-space: nowrap; }
pre.curl { user-select: all; margin: .25rem 0; }
pre.json { max-height: 36rem; overflow: auto; font-size: .85rem; }
.drawn { margin: 1rem 0; }
.graph { display: block; width: 100%; max-width: 46rem; height: auto; margin: .5rem 0; }
.narrow { display: none; }
.graph.of-1 { max-width: 12.5rem; } .graph.of-2 { max-width: 29rem; }
.graph.of-4 { max-width: 62rem; }
.graph .box rect { fill: var(--paper); stroke: var(--control); }
.graph .box.subject rect { stroke: var(--accent); stroke-width: 2; }
.graph .box.listed rect { stroke: var(--bad); stroke-width: 2; }
.graph text { fill: var(--ink); font: 14px ui-sans-serif, system-ui, sans-serif; }
.graph .who { font: 600 15px ui-monospace, Menlo, Consolas, monospace; }
.graph .says { fill: var(--quiet); }
.graph .box.listed .says { fill: var(--bad); font-weight: 600; }
.graph .edge { fill: none; stroke: var(--control); stroke-linecap: round; opacity: .8; }
.graph .edge.hit { stroke: var(--bad); opacity: 1; }
.graph .edge.tie { stroke: var(--accent); stroke-dasharray: 1 5; }
.graph .edge.unread { stroke-dasharray: 6 5; }
.graph .box.unread rect { fill: none; stroke-dasharray: 6 5; }
.graph a:hover rect { stroke-width: 2; }
.graph a:focus-visible rect { stroke: var(--accent); stroke-width: 4; }
.graph .head path { fill: var(--control); }
.graph .head.hit path { fill: var(--bad); }
.timeline { list-style: none; padding: 0; margin: 1rem 0; border-left: 2px solid var(--line); }
.timeline li { position: relative; padding: 0 0 .9rem 1.25rem; }
.timeline li::before { content: ""; position: absolute; left: -.41rem; top: .45rem; width: .7rem;
  height: .7rem; border-radius: 50%; background: var(--card); border: 2px solid var(--accent); }
.timeline time { color: var(--quiet); font-size: .9rem; }
.timeline li > div { margin: 0; overflow-wrap: anywhere; }
.day { display: block; width: 13.5rem; max-width: 100%; height: 1.75rem; margin: .1rem 0 .3rem; }
.day .answered { fill: var(--accent); } .day .failed { fill: var(--bad); }
.day .stopped { fill: none; stroke: var(--control); stroke-dasharray: 2 2; }
.day .idle { fill: var(--control); } .day .axis { fill: var(--line); }
.provider .quiet { display: block; }
.state.silent { color: var(--bad); } .state.not_asked, .state.unanswered { color: var(--quiet); }
.top { flex-wrap: wrap; gap: .6rem 1.5rem; }
.top search { margin-left: auto; flex: 0 1 24rem; }
.top nav { flex: 1 0 100%; }
form.seek { display: flex; flex-wrap: wrap; gap: .5rem; }
form.seek input { flex: 1 1 10rem; }
.top form.seek { flex-wrap: nowrap; }
.hero { padding: 1.5rem 0 .5rem; }
.hero h1 { font-size: clamp(1.8rem, 5vw, 2.75rem); max-width: 40rem; }
.hero .search { max-width: 46rem; }
.hero .search input { padding: .7rem 1rem; font-size: 1.05rem; }
.hero .search button { padding: .7rem 1.25rem; }
.dates { margin: .5rem 0; max-width: 56rem; }
.dates > div { display: grid; grid-template-columns: 11rem minmax(0, 1fr); gap: 0 1rem;
  padding: .5rem 0; border-top: 1px solid var(--line); }
.dates dt { font-weight: 600; } .dates dd { margin: 0; }
.checked { margin-top: 1rem; }
.cards { list-style: none; padding: 0; margin: 1rem 0; display: grid; gap: .75rem;
  grid-template-columns: repeat(auto-fill, minmax(min(18rem, 100%), 1fr)); }
.cards li { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: .8rem 1rem; }
.cards a { font-weight: 600; display: block; }
.cards code { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
  color: var(--quiet); }
@media (max-width: 40rem) { .top search { flex: 1 0 100%; margin: 0; }
  .top { align-items: center; } .top .menu { margin-left: auto; } .top search { order: 3; }
  .dates > div { grid-template-columns: minmax(0, 1fr); }
  .part { padding: .6rem .9rem; margin: .6rem 0; font-size: .95rem; }
  .part h3 { margin: 1rem 0 .25rem; } .part p { margin: .35rem 0; }
  .part > header h2 { font-size: 1.15rem; } .says { font-size: 1rem; }
  .part.untold .nothing p { display: inline; margin-right: .3rem; }
  .part .unchecked { padding: .2rem .6rem; margin: .4rem 0; font-size: .9rem; }
  .part .unchecked p { margin: .2rem 0; }
  .frame::part(glance) { margin: .75rem 0 1rem; }
  .part .cells:not(.match) { display: block; margin: .5rem 0; }
  .part .cells:not(.match) > div { display: flex; justify-content: space-between; gap: .75rem; }
  .part .cells:not(.match) dd { text-align: right; }
  .part > footer { margin-top: .5rem; padding-top: 0; }
  .part details { padding: .3rem 0; } .part .findings > li > details { padding: 0; }
  .findings { padding-left: 1.1rem; margin: .4rem 0; }
  .findings li { margin: .4rem 0; } .timeline li { padding-bottom: .4rem; }
  .part details.caveat { margin: .5rem 0; padding: 0 0 0 .75rem; font-size: .88rem; }
  .caveat > summary { cursor: pointer; }
  .caveat:not([open]) > summary { display: -webkit-box; -webkit-line-clamp: 2;
    -webkit-box-orient: vertical; overflow: hidden; }
  p.narrow { display: block; } span.narrow { display: inline; }
  .graph.of-3 { min-width: 34rem; } .graph.of-4 { min-width: 46rem; }
  .cells { grid-template-columns: 1fr 1fr; }
  .facts { grid-template-columns: fit-content(7.5rem) minmax(0, 1fr); gap: .3rem 1rem; }
  table.stacks, .stacks tbody, .stacks tr, .stacks caption { display: block; }
  .stacks thead { position: absolute; width: 1px; height: 1px; overflow: hidden;
    clip-path: inset(50%); }
  .scroll table.stacks td.blank { display: none; }
  .stacks tr { border-top: 1px solid var(--line); padding: .5rem 0; }
  .scroll table.stacks td { display: flow-root; min-width: 0; padding: .1rem 0 .1rem 7.5rem;
    border: 0; }
  .stacks tbody th { border: 0; }
  .scroll table.stacks td.whole { white-space: normal; }
  .stacks td::before { content: attr(data-head); color: var(--quiet); font-size: .85rem;
    float: left; width: 7rem; margin-left: -7.5rem; font-weight: 400; }
  table.lines, .lines tbody, .lines tr, .lines caption { display: block; }
  .lines thead { position: absolute; width: 1px; height: 1px; overflow: hidden;
    clip-path: inset(50%); }
  .lines tr { border-top: 1px solid var(--line); padding: .4rem 0; }
  .scroll table.lines td, .scroll table.lines td:first-child { display: block; min-width: 0;
    padding: 0; border: 0; }
  .scroll table.lines td:first-child, .scroll table.lines td:first-child + td { display: inline; }
  .lines td:first-child::after { content: " · "; color: var(--quiet); }
  .lines .provider .quiet { display: inline; }
  .lines .day { display: inline-block; width: 9rem; height: 1.2rem; margin: 0 .5rem 0 0;
    vertical-align: middle; }
  .scroll table.lines td.blank { display: none; }
  .frame::part(lines) { gap: .4rem; }
  .line, .line.open { display: grid; grid-template-columns: 1fr auto; align-items: baseline;
    padding: .4rem .8rem; border-top-width: 1px; border-left-width: .25rem; }
  .line.hit { border-left-color: var(--bad); } .line.seen { border-left-color: var(--accent); }
  .line a { grid-row: 1; margin: 0; }
  .line p { grid-column: 1 / -1; -webkit-line-clamp: 1; } .line.hit p { -webkit-line-clamp: 2; } }
@media print {
  :root { --ink: #000; --quiet: #444; --paper: #fff; --card: #fff; --line: #bbb; --control: #666;
    --accent: #0b4a70; --bad: #8c1d1d; --warn: #fff; --warn-ink: #000; --code: #fff; }
  html { font-size: 10.5pt; }
  main, .top, footer, .simulated { max-width: none; padding-left: 0; padding-right: 0; }
  .skip, .top nav, search, .search, .curl, .actions, button, .live, .part > footer details {
    display: none; }
  .simulated { border: 1px solid #000; margin-bottom: .5rem; }
  .part, .route, .panel, .line { break-inside: auto; border-radius: 0; padding: .75rem 0;
    border-width: 1px 0 0; }
  .line { padding: .4rem 0; break-inside: avoid; }
  .line p { display: block; }
  h1, h2, h3, caption { break-after: avoid; }
  tr, .graph, .caveat, .unchecked, .findings li, .timeline li { break-inside: avoid; }
  thead { display: table-header-group; }
  .scroll { overflow: visible; }
  .caveat > summary { display: block; }
  .cut { max-width: none; white-space: normal; overflow-wrap: anywhere; }
  .badge { background: none; color: #000; border-color: #000; }
  .badge.hit, .badge.seen { background: none; color: #000; }
  a { color: inherit; text-decoration: none; }
  .dossier h1 { font-size: 15pt; }
  body { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
`;
