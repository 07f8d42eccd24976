// What pages need beyond HTML and htmx: the theme, copying, and live parts.
// It is loaded without defer, so that a chosen theme applies before the first paint.
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const say = (text) => byId("say")?.replaceChildren(text);

  // ---- Theme: auto, light, dark.
  const themes = ["", "light", "dark"];
  const chosen = () => { try { return localStorage.getItem("theme") || ""; } catch { return ""; } };
  const choose = (theme) => { try { localStorage.setItem("theme", theme); } catch { /* a private window keeps nothing */ } };
  const applyTheme = () => {
    const theme = themes.includes(chosen()) ? chosen() : "";
    if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
    for (const b of document.querySelectorAll("[data-theme-next]")) {
      b.hidden = false;
      b.textContent = `Theme: ${theme || "auto"}`;
    }
  };
  applyTheme();

  // ---- Copying. Plain http on a home network has no clipboard: then the text is selected.
  const showCopyButtons = (within) => {
    for (const b of within.querySelectorAll("[data-copy]")) b.hidden = false;
  };
  const copy = async (button) => {
    const source = byId(button.dataset.copy);
    if (!source) return;
    const word = button.textContent;
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Selected";
    }
    say(button.textContent);
    setTimeout(() => { button.textContent = word; }, 1800);
  };

  addEventListener("click", (e) => {
    if (e.target.closest("[data-theme-next]")) {
      choose(themes[(themes.indexOf(chosen()) + 1) % themes.length]);
      applyTheme();
    }
    const button = e.target.closest("[data-copy]");
    if (button) copy(button);
    if (e.target.id === "go") e.target.close();
    for (const d of document.querySelectorAll("details.more[open]")) if (!d.contains(e.target)) d.open = false;
  });
  addEventListener("keydown", (e) => {
    if (e.key !== "Escape") return;
    const open = document.querySelector("details.more[open]");
    if (open) { open.open = false; open.querySelector("summary").focus(); return; }
    document.querySelector("a[data-close]")?.click();
  });

  // ---- From picture to picture by the arrows.
  addEventListener("keydown", (e) => {
    const to = { ArrowLeft: "prev", ArrowRight: "next" }[e.key];
    if (to && !e.altKey && !e.metaKey && !e.ctrlKey) document.querySelector(`.photo a[rel=${to}]`)?.click();
  });

  // ---- Search and the list of pages by keyboard.
  const go = () => byId("go");
  const typing = (e) => e.target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName);
  addEventListener("keydown", (e) => {
    if ((e.metaKey || e.ctrlKey) && e.key.toLowerCase() === "k" && go()) {
      e.preventDefault();
      if (go().open) go().close(); else go().showModal();
    } else if (e.key === "/" && !e.metaKey && !e.ctrlKey && !typing(e) && byId("seek")) {
      e.preventDefault();
      byId("seek").focus();
    } else if (go()?.open && (e.key === "ArrowDown" || e.key === "ArrowUp")) {
      e.preventDefault();
      const shown = [...go().querySelectorAll("li:not([hidden]) a")];
      const next = shown.indexOf(document.activeElement) + (e.key === "ArrowDown" ? 1 : -1);
      (shown[next] || (next < 0 ? byId("go-to") : shown[0]))?.focus();
    } else if (e.key === "Enter" && e.target.id === "go-to") {
      go().querySelector("li:not([hidden]) a")?.click();
    }
  });
  addEventListener("input", (e) => {
    if (e.target.id !== "go-to") return;
    const words = e.target.value.trim().toLowerCase();
    for (const li of go().querySelectorAll("li")) li.hidden = !li.textContent.toLowerCase().includes(words);
  });

  // ---- Live parts. The server sends an element with an id, and it takes the place of
  // the one that is there. An element in use is left alone and replaced afterwards.
  const held = new Map();
  const inUse = (part) => {
    const at = document.activeElement;
    return (at && at !== document.body && part.contains(at)) || part.querySelector("details.more[open], [aria-busy=true]") !== null;
  };
  const keepOpen = (old, fresh) => {
    for (const d of old.querySelectorAll("details[id]")) {
      const same = fresh.querySelector(`#${CSS.escape(d.id)}`);
      if (same) same.open = d.open;
    }
  };
  const replace = (fresh) => {
    const old = byId(fresh.id);
    if (!old) return;
    if (fresh.id !== "flash" && inUse(old)) { held.set(fresh.id, fresh); return; }
    held.delete(fresh.id);
    keepOpen(old, fresh);
    old.replaceWith(fresh);
    showCopyButtons(fresh);
    if (window.htmx) htmx.process(fresh);
    if (fresh.dataset.say && fresh.dataset.say !== old.dataset.say) say(fresh.dataset.say);
  };
  const settle = () => { for (const fresh of [...held.values()]) replace(fresh); };
  addEventListener("focusout", () => setTimeout(settle));
  addEventListener("toggle", () => setTimeout(settle), true);

  const silence = 15000; // after so long without a sign the server counts as gone
  const again = 5000;
  const live = (address) => {
    let lastSign = Date.now(), lastTry = 0, lastNews = new Date(), source;
    const sign = () => {
      lastSign = Date.now();
      byId("lost").hidden = true;
    };
    const open = () => {
      source = new EventSource(address);
      source.addEventListener("beat", sign);
      source.addEventListener("part", (e) => {
        sign();
        lastNews = new Date();
        const holder = document.createElement("template");
        holder.innerHTML = e.data;
        for (const fresh of [...holder.content.children]) replace(fresh);
      });
      source.addEventListener("over", () => { source.close(); clearInterval(watch); });
      source.addEventListener("goto", (e) => { if (e.data.startsWith("/")) location.assign(e.data); });
    };
    const watch = setInterval(() => {
      if (Date.now() - lastSign < silence) return;
      const lost = byId("lost");
      if (lost.hidden) {
        const clock = lastNews.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
        lost.firstElementChild.textContent = `Connection to the server lost at ${clock}. This page shows what was known then and keeps trying.`;
        lost.hidden = false;
      }
      if (source.readyState !== EventSource.CLOSED || Date.now() - lastTry < again) return;
      lastTry = Date.now();
      open(); // a browser gives up on a request that was refused
    }, 1000);
    open();
    addEventListener("pagehide", () => source.close());
    addEventListener("pageshow", (e) => { if (e.persisted) open(); });
  };

  // ---- Forms that htmx sends: a busy button while it waits, then the message has the focus,
  // so that the part with the button is free to change.
  const busy = (e, on) => {
    const form = e.detail.elt;
    const button = form.matches("form") ? form.querySelector("button:not([type=button])") : form;
    if (!button) return;
    if (on) {
      button.setAttribute("aria-busy", "true");
      if (button.dataset.busy) { button.dataset.word = button.textContent; button.textContent = button.dataset.busy; }
    } else {
      button.removeAttribute("aria-busy");
      if (button.dataset.word) { button.textContent = button.dataset.word; delete button.dataset.word; }
    }
  };
  addEventListener("htmx:beforeRequest", (e) => busy(e, true));
  addEventListener("htmx:afterRequest", (e) => {
    busy(e, false);
    if (e.detail.successful) {
      for (const d of document.querySelectorAll("details.more[open]")) if (d.contains(e.detail.elt)) d.open = false;
      const form = e.detail.elt.closest("form");
      if (form) for (const field of form.querySelectorAll("input[type=password]")) field.value = "";
    }
    setTimeout(settle);
  });
  addEventListener("htmx:afterSwap", (e) => {
    showCopyButtons(e.detail.target);
    const message = byId("flash")?.querySelector("[data-message]");
    if (message && e.detail.target.id === "flash") message.focus();
    const heading = e.detail.target.querySelector("[data-focus]");
    if (heading) heading.focus();
  });
  addEventListener("htmx:sendError", () => {
    say("The server did not answer. Nothing was changed.");
    const message = Object.assign(document.createElement("p"), { className: "msg red", textContent: "The server did not answer. Nothing is known to have changed." });
    message.setAttribute("role", "alert");
    byId("flash")?.replaceChildren(message);
  });

  addEventListener("DOMContentLoaded", () => {
    applyTheme();
    showCopyButtons(document);
    const tab = document.querySelector(".tabs [aria-current]"); // on a phone it may be beyond the edge
    if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - tab.parentElement.offsetLeft - 24;
    const address = byId("main")?.dataset.live;
    if (address) live(address);
  });
})();
