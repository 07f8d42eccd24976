;
// The rules of axe that are about colours.
const ofColours = ["color-contrast", "link-in-text-block"];
// All others that it asks by itself and whose breach is serious.
const ofStructure = axe._audit.rules.filter((r) => r.enabled && ["serious", "critical"].includes(r.impact) &&
  !r.tags.includes("experimental") && !r.tags.includes("deprecated") && !ofColours.includes(r.id)).map((r) => r.id);
if (ofStructure.length < 50) throw new Error("axe has another form: " + ofStructure);

// looksOf gives the visible elements with text of their own, by what they look like: two of one
// look have the same place in the same kinds of elements, of the same colours and sizes all the
// way up.
const looksOf = (root) => {
  const digests = new Map();
  const digest = (e) => {
    if (!e) return "";
    let d = digests.get(e);
    if (d !== undefined) return d;
    const s = getComputedStyle(e);
    const own = [e.localName, e.getAttribute("class"), s.color, s.backgroundColor, s.backgroundImage, s.opacity, s.filter, s.mixBlendMode,
      s.textShadow, s.textDecorationLine, s.fontSize, s.fontWeight, s.position].join();
    let a = 0xdeadbeef, b = 0x41c6ce57; // cyrb53: short, and apart for what is apart
    for (const c of digest(e.parentElement) + own) {
      const n = c.codePointAt(0);
      a = Math.imul(a ^ n, 2654435761);
      b = Math.imul(b ^ n, 1597334677);
    }
    a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
    b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
    d = (4294967296 * (2097151 & b) + (a >>> 0)).toString(36);
    digests.set(e, d);
    return d;
  };
  const looks = {};
  for (const e of root.querySelectorAll("*")) {
    const text = e.matches("input, select, textarea") || [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim() !== "");
    if (text && e.checkVisibility()) (looks[digest(e)] ??= []).push(e);
  }
  return looks;
};

// judge lets axe judge the colours of one element of each look that is asked for, and of all of
// them where it cannot tell by one: something may lie over it.
const judge = async (looks, asked) => {
  const found = [], judged = [];
  const ask = async (asked, pick) => {
    const shown = asked.map((look) => [look, pick(looks[look]).filter((e) => e.isConnected)]).filter(([, elements]) => elements.length > 0);
    if (shown.length === 0) return;
    const said = await axe.run({include: shown.flatMap(([, elements]) => elements)}, {runOnly: ofColours, resultTypes: ["violations", "incomplete"], preload: false, elementRef: true});
    found.push(...said.violations);
    const unclear = new Set(said.incomplete.flatMap((rule) => rule.nodes.map((n) => n.element)));
    for (const [look, elements] of shown) if (elements.some((e) => !unclear.has(e))) judged.push(look);
  };
  await ask(asked, (all) => all.slice(0, 1));
  await ask(asked.filter((look) => !judged.includes(look)), (all) => all.slice(1));
  return {violations: found.map((v) => ({...v, nodes: v.nodes.map(({html, failureSummary}) => ({html, failureSummary}))})), judged};
};
