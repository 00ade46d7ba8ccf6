"""The style of the page; its digest stands in the page's content security policy.

Guarantees: ASCII, no URL, no import. Every colour of text has a contrast of at least 4.5 to 1 with
what it stands on, by day and by night (WCAG 2.2 AA; tests/reports/test_html_browser.py). Whatever
can be seen without the script can be chosen without it.

Example:
    >>> STYLE.isascii(), "url(" in STYLE
    (True, False)
"""

from __future__ import annotations

from provenance.reports._html_colors import state_rules, variables

__all__ = ["STYLE"]

_DAY = (
    "--paper:#fff;--ground:#f4f6f8;--ink:#1a2027;--soft:#4d5763;--line:#d5dbe2;--link:#0a55a3;"
    "--focus:#0a55a3;--strong:#8894a1;"
)
_NIGHT = (
    "--paper:#161b22;--ground:#0d1117;--ink:#e6eaef;--soft:#a3aebb;--line:#303944;--link:#86bdff;"
    "--focus:#86bdff;--strong:#6d7987;"
)

STYLE = (
    f":root{{color-scheme:light dark;{_DAY}{variables(night=False)}}}\n"
    f"@media (prefers-color-scheme:dark){{:root{{{_NIGHT}{variables(night=True)}}}}}\n"
    # Paper is white whatever the screen is like.
    f"@media print{{:root{{color-scheme:light;{_DAY}{variables(night=False)}}}}}\n"
    r"""
*,*::before,*::after{box-sizing:border-box}
html{scroll-padding-top:3.5rem;-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);line-height:1.5;
 font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif;
 font-size:1rem;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.wrap{max-width:76rem;margin:0 auto;padding:0 1.5rem}
h1,h2,h3,p,ul,ol,dl,dd,pre,table,fieldset{margin:0;padding:0}
h1{font-size:1.75rem;line-height:1.25;letter-spacing:-.01em;text-wrap:balance}
h2{font-size:1.25rem;line-height:1.3}
h3{font-size:1rem}
ul,ol{list-style:none}
code,pre{font-family:ui-monospace,SFMono-Regular,"Cascadia Mono",Menlo,"Liberation Mono",
 "DejaVu Sans Mono",monospace;font-size:.86em;white-space:pre-wrap;overflow-wrap:anywhere}
code{unicode-bidi:isolate-override;direction:ltr}
li,td,th,p,.said{unicode-bidi:isolate}
small{font-size:.8125rem;color:var(--soft)}
small code{font-size:.95em}
small a{white-space:nowrap}
a{color:var(--link);text-underline-offset:.15em}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px;border-radius:3px}
.x{font-style:normal;font-family:ui-monospace,monospace;font-size:.85em;color:var(--corrupt);
 background:var(--corrupt-g);border-radius:2px;padding:0 .15em}
.skip{position:absolute;left:-100vw;top:0;padding:.75rem 1rem;background:var(--paper);z-index:9}
.skip:focus{left:0}
.lead{color:var(--soft);margin:.25rem 0 1rem;max-width:48rem}
.more,.none{color:var(--soft);font-size:.875rem;margin-top:.5rem}

header.top{padding-top:2rem;padding-bottom:1.25rem}
.mast{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:baseline;
 justify-content:space-between}
.brand{font-weight:700;letter-spacing:.01em}
.brand span{color:var(--soft);font-weight:400;margin-left:.5rem}
.run{display:flex;flex-wrap:wrap;gap:.5rem 2rem;margin-top:1rem;padding-top:1rem;
 border-top:1px solid var(--line);font-size:.875rem}
.run dt{color:var(--soft);font-size:.8125rem}
.run div{min-width:0}

main.wrap{display:grid;gap:2.5rem;padding-bottom:2.5rem}
main>*{min-width:0}
section>h2{margin-bottom:.25rem}
.verdict{background:var(--paper);border:1px solid var(--line);border-left:.5rem solid var(--tone);
 border-radius:.5rem;padding:1.5rem 1.75rem}
.verdict.bad{--tone:var(--corrupt)}
.verdict.care{--tone:var(--denied)}
.verdict.good{--tone:var(--available)}
.verdict .code{color:var(--tone);font-size:.9375rem;margin-bottom:.25rem}
.verdict h1{max-width:54rem}
.verdict h2{font-size:1rem;margin:1.5rem 0 .5rem}
.notes{margin-top:1rem;display:grid;gap:.25rem}
.notes li{border-left:3px solid var(--denied);padding:.125rem 0 .125rem .75rem}
.steps{display:grid;gap:.625rem;list-style:decimal;padding-left:1.5rem}
.steps li{padding-left:.5rem}
.steps li::marker{color:var(--soft);font-weight:600}
.steps small{display:block}

nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;font-size:.9375rem}

.bar{display:block;width:100%;border-radius:6px;overflow:hidden;margin-bottom:1rem;
 background:var(--line)}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(16rem,1fr));gap:.75rem}
.tile{background:var(--paper);border:1px solid var(--line);border-radius:.5rem;padding:1rem;
 display:grid;grid-template-columns:auto 1fr;gap:.25rem .75rem;align-items:center}
.tile .number{font-size:1.5rem;line-height:1}
.tile .b{justify-self:start}
.tile p{grid-column:1/-1;font-size:.875rem;color:var(--soft)}
.proofs{margin-top:1rem;font-size:.9375rem;color:var(--soft)}
.proofs b{color:var(--ink);font-weight:600}
.proofs ul{display:grid;gap:.125rem}
.tile.none{background:none;margin:0}
.tile.none .number{color:var(--soft);font-weight:400}

.b{display:inline-flex;align-items:center;gap:.35em;border-radius:1rem;padding:.0625rem .625rem;
 font-size:.8125rem;font-weight:600;line-height:1.5;white-space:nowrap;vertical-align:middle}
.b::before{font-size:.75em;width:1em;text-align:center}
.waiver{border-left:3px solid var(--unsupported);padding-left:.625rem;margin-top:.375rem;
 font-size:.875rem}

details{min-width:0}
summary{cursor:pointer}
.group,.lost,.session{background:var(--paper);border:1px solid var(--line);border-radius:.5rem;
 padding:.875rem 1.125rem;margin-top:.75rem}
.group>p,.session>p{font-size:.9375rem;margin-top:.375rem;max-width:56rem}
.group .meaning,.lost .meaning{display:block;color:var(--soft);font-size:.9375rem;margin-top:.25rem}
.rest>.steps{margin-top:.625rem}
.group details{margin-top:.5rem}
.group details summary{color:var(--link);font-size:.9375rem}
.rest>summary{margin-top:.75rem;color:var(--link)}
.places{display:grid;gap:.5rem;margin-top:.75rem;font-size:.9375rem}
.places li{border-top:1px solid var(--line);padding-top:.5rem}
.times{font-weight:400;color:var(--soft);margin:0 .25rem}

table{border-collapse:collapse;width:100%;font-size:.9375rem;text-align:left}
th{font-weight:400;text-align:left}
thead th{font-size:.8125rem;color:var(--soft);font-weight:600}
.t{background:var(--paper);border:1px solid var(--line);border-radius:.5rem;border-spacing:0;
 border-collapse:separate;margin-top:.75rem}
.t th,.t td{padding:.625rem .875rem;vertical-align:top;border-top:1px solid var(--line)}
.t thead th{border-top:0;white-space:nowrap}
.waivers td:nth-child(n+5){white-space:nowrap}
.seals td:nth-child(6){white-space:nowrap}
.seals code{overflow-wrap:anywhere}
.transcripts{table-layout:fixed}
.transcripts th:nth-child(1){width:25%}
.transcripts th:nth-child(2){width:13%}
.transcripts th:nth-child(3){width:22%}
.transcripts th:nth-child(4){width:16%}
.group .t{border-width:1px 0 0;border-radius:0}
.t small,.results small{display:block;margin-top:.125rem}
.plain,.claims{display:grid;gap:.375rem}

.controls{display:flex;flex-wrap:wrap;gap:.75rem 2rem;align-items:end;margin-top:.75rem}
fieldset{border:0;min-width:0}
legend,.search label{font-size:.8125rem;color:var(--soft);font-weight:600;padding:0;
 margin-bottom:.25rem;display:block}
.chips{display:flex;flex-wrap:wrap;gap:.375rem}
.chips legend{float:left;width:100%}
.chips label{position:relative;display:inline-flex;cursor:pointer}
.chips input{position:absolute;inset:0;width:100%;height:100%;margin:0;opacity:0;cursor:pointer}
.chips span{border:1px solid var(--strong);border-radius:1rem;padding:.125rem .75rem;
 font-size:.875rem;background:var(--paper)}
.chips b{font-weight:400;color:var(--soft)}
.chips input:checked+span{background:var(--ink);border-color:var(--ink);color:var(--paper)}
.chips input:checked+span b{color:inherit}
.chips input:focus-visible+span{outline:3px solid var(--focus);outline-offset:2px}
.search[hidden]{display:none}
.search input{font:inherit;font-size:.875rem;color:inherit;background:var(--paper);width:14rem;
 max-width:100%;border:1px solid var(--strong);border-radius:.375rem;padding:.1875rem .625rem}
#shown{margin:.5rem 0 0;min-height:1.5rem;font-size:.875rem}

.results,.results thead,.results tbody{display:flex;flex-direction:column}
.results{background:var(--paper);border:1px solid var(--line);border-radius:.5rem;margin-top:.25rem}
.results tr{display:grid;gap:0 1.25rem;padding:.75rem 1.125rem;
 grid-template-columns:8.5rem minmax(0,5fr) minmax(0,6fr) minmax(0,5fr)}
.results thead{position:sticky;top:0;z-index:1;background:var(--paper);
 border-bottom:1px solid var(--line);border-radius:.5rem .5rem 0 0}
.results thead button{all:unset;cursor:pointer;font:inherit;color:inherit}
.results thead button:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
[aria-sort=ascending] button::after{content:" \25b2";content:" \25b2" / ""}
[aria-sort=descending] button::after{content:" \25bc";content:" \25bc" / ""}
.results thead tr{padding-top:.5rem;padding-bottom:.5rem}
.many tbody tr{content-visibility:auto;contain-intrinsic-size:auto 7rem}
.results tbody tr+tr{border-top:1px solid var(--line)}
.results tbody tr[hidden]{display:none}
.results tbody tr:target{box-shadow:inset .25rem 0 0 var(--focus);
 background:var(--unsupported-g)}
.results details{margin-top:.375rem}
.results summary{font-size:.875rem;color:var(--link)}
pre{background:var(--ground);border:1px solid var(--line);border-radius:.375rem;
 padding:.625rem .75rem;margin-top:.375rem;max-height:20rem;overflow:auto}

.lost>p{font-size:.875rem;margin-top:.125rem}
.tree,.tree ul{display:grid;gap:.5rem}
.tree{margin-top:.75rem}
.tree ul{margin:.5rem 0 0 .375rem;padding-left:1.125rem;border-left:2px solid var(--line)}
.tree small{display:block}
.kind{font-size:.8125rem;font-weight:600;color:var(--soft);border:1px solid var(--line);
 border-radius:.25rem;padding:0 .375rem;margin-right:.25rem}
.said{display:block}

.legend{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;font-size:.875rem;color:var(--soft)}
.legend li{display:inline-flex;align-items:center;gap:.25rem}
.marks{position:absolute}
.line{display:block;width:100%;overflow:visible;margin-top:.75rem}
svg line.axis{stroke:var(--strong);stroke-width:2}
/* Not below svg: what <use> shows has no svg above it. */
.hollow{fill:var(--paper);stroke:inherit;stroke-width:2.5}
.stroke{fill:none;stroke:inherit;stroke-width:3;stroke-linecap:round}
.session p.axis{display:flex;flex-wrap:wrap;gap:0 1rem;justify-content:space-between;
 font-size:.8125rem;color:var(--soft);max-width:none;margin-top:.125rem}
.session details{margin-top:.5rem;font-size:.9375rem}
.links{display:flex;flex-wrap:wrap;gap:.375rem 1.25rem;margin-top:.5rem}
footer.wrap{padding-bottom:2.5rem;color:var(--soft);font-size:.875rem}
footer p{border-top:1px solid var(--line);padding-top:1.25rem}

.controls:has(#f-fault:checked)~table tbody tr[data-s=available]{display:none}
.controls:has(#f-waived:checked)~table tbody tr:not([data-w]){display:none}
/* A link to a row shows it; with the script, which chooses another filter then, that is its job. */
:root:not(.scripted) .results tbody tr:target{display:grid!important}
/* Only the form is looked into, and never the table: while it is read, that would be done anew for
   each of its rows. The script moves the rows themselves. */
:root:not(.scripted) .controls:has(#o-pointer:checked)~table tbody tr{order:var(--p)}
:root:not(.scripted) .controls:has(#o-claims:checked)~table tbody tr{order:var(--c,-1)}
:root:not(.scripted) .controls:has(#o-strength:checked)~table tbody tr{order:9}
:root:not(.scripted) .controls:has(#o-strength:checked)~table tbody tr[data-g=position]{order:1}
:root:not(.scripted) .controls:has(#o-strength:checked)~table tbody tr[data-g=prefix]{order:2}
:root:not(.scripted) .controls:has(#o-strength:checked)~table tbody tr[data-g=full]{order:3}
:root:not(.scripted) .controls:has(#o-strength:checked)~table tbody tr[data-g=pinned]{order:4}
:root:not(.scripted) .controls:has(#o-strength:checked)~table tbody tr[data-g=sealed]{order:5}

@media (max-width:56rem){
.wrap{padding:0 1rem}
header.top{padding-top:1.25rem}
h1{font-size:1.375rem}
.verdict{padding:1.125rem 1rem;border-left-width:.375rem}
.tiles{grid-template-columns:repeat(auto-fill,minmax(min(100%,14rem),1fr))}
.group,.lost,.session{padding:.75rem .875rem}
.results thead,.t thead{position:absolute;width:1px;height:1px;overflow:hidden;
 clip-path:inset(50%);white-space:nowrap}
.results tr{display:flex;flex-direction:column;gap:.375rem;padding:.875rem}
:root:not(.scripted) .results tbody tr:target{display:flex!important}
.t,.t tbody,.t tr,.t th,.t td{display:block}
.t tr+tr{border-top:1px solid var(--line)}
.t tr{padding:.5rem 0}
.t th,.t th:nth-child(n),.t td{border:0;padding:.25rem .875rem;width:auto}
.group .t th,.group .t td{padding:.25rem 0}
.results td:nth-child(4)::before,.transcripts td::before,.waivers td::before,
.seals td::before{display:block;
 font-size:.8125rem;color:var(--soft)}
.results td:nth-child(4)::before{content:"Rests on it"}
.waivers td:nth-child(2)::before{content:"State"}
.waivers td:nth-child(3)::before{content:"Reason"}
.waivers td:nth-child(4)::before{content:"Owner"}
.waivers td:nth-child(5)::before{content:"Last day"}
.waivers td:nth-child(6)::before{content:"Faults"}
.seals td:nth-child(2)::before{content:"Key"}
.seals td:nth-child(3)::before{content:"Seals"}
.seals td:nth-child(4)::before{content:"Entries"}
.seals td:nth-child(5)::before{content:"Root"}
.seals td:nth-child(6)::before{content:"Log"}
.transcripts td:nth-child(2)::before{content:"Records"}
.transcripts td:nth-child(3)::before{content:"Time"}
.transcripts td:nth-child(4)::before{content:"Findings"}
.transcripts td:nth-child(5)::before{content:"Content"}
}
@media (prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
@media (forced-colors:active){.chips input:checked+span{outline:2px solid}.b{border:1px solid}}
@media print{
@page{margin:16mm 14mm}
body{background:none;font-size:10pt}
.wrap{max-width:none;padding:0}
.skip,nav,.controls,#shown{display:none}
main.wrap{display:block}
main>*{margin-top:7mm}
.verdict,.tile,.session{break-inside:avoid}
.results thead{position:static}
.results tbody tr{content-visibility:visible;break-inside:avoid}
h2,h3,summary{break-after:avoid}
details::details-content{content-visibility:visible;block-size:auto}
pre{max-height:none}
a{color:inherit;text-decoration:none}
.b{border:1px solid}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}
}
""" + state_rules() + "\n"
)
