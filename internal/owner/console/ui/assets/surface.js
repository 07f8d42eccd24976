// The page of a run's browser: pictures come, the owner's hands go back. Frames are binary,
// their first byte is the kind; everything else is JSON. Nothing of it is kept.
(() => {
  const stage = document.querySelector("[data-surface]");
  if (!stage) return;
  const part = (name) => stage.querySelector(`[data-part="${name}"]`);
  const canvas = part("picture"), keys = part("keys"), screen = part("screen");
  const paint = canvas.getContext("2d");
  const picture = 2, place = 3, choices = 4, dialog = 5, view = 65, seen = 66, input = 67, choose = 68;
  const longest = 4096, quality = 60;
  const say = (text) => document.getElementById("say")?.replaceChildren(text);
  const words = new TextEncoder(), text = new TextDecoder();
  let socket, state = "", origin = "", size = { width: 1, height: 1 }, tries = 0, over = false;

  // ---- What is shown, by state.
  const show = (next, why) => {
    state = next;
    stage.dataset.state = next;
    const all = next === "over" ? [`over-${why}`] : [next];
    for (const e of document.querySelectorAll("[data-when]")) e.hidden = !e.dataset.when.split(" ").some((w) => all.includes(w));
    const at = { opening: 0, over: why === "settled" ? 2 : -1 }[next] ?? 1;
    document.querySelectorAll(".phases li").forEach((li, i) => {
      li.classList.toggle("done", i < at);
      if (i === at) li.setAttribute("aria-current", "step"); else li.removeAttribute("aria-current");
    });
    if (next !== "live") { part("choices").hidden = true; part("dialog").hidden = true; }
    const line = [...document.querySelectorAll("[data-when] [data-say], [data-say][data-when]")].find((e) => e.offsetParent);
    if (line) say(line.textContent.trim());
  };

  const lost = () => {
    part("lost-at").textContent = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    show("lost");
  };

  // ---- To the page.
  const frame = (kind, body) => {
    if (socket?.readyState !== WebSocket.OPEN) return;
    const out = new Uint8Array(1 + body.length);
    out[0] = kind;
    out.set(body, 1);
    socket.send(out);
  };
  const act = (message) => {
    if (state !== "live") return;
    if (message.action === "down") part("refused").hidden = true;
    frame(input, words.encode(JSON.stringify(message)));
  };
  const wish = (message) => socket?.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message));
  const look = () => {
    const width = Math.round(Math.min(Math.max(stage.clientWidth, 320), 1280));
    const height = Math.round(width < 600 ? width * 48 / 39 : width * 10 / 16);
    frame(view, words.encode(JSON.stringify({ width, height, scale: Math.min(devicePixelRatio || 1, 2), quality })));
  };

  // ---- From the page.
  const show_place = (p) => {
    const secure = p.origin.startsWith("https://");
    const name = secure ? p.origin.slice(8) : p.origin || "no address yet";
    part("lock").toggleAttribute("hidden", !secure);
    part("origin").textContent = name;
    canvas.setAttribute("aria-label", `Picture of the page at ${name}${p.title ? `: ${p.title}` : ""}`);
    if (p.blocked) part("refused").textContent = `The page wanted to go to ${p.blocked}, which this connector may not open.`;
    if (p.blocked) part("refused").hidden = false; // until the owner does something
    const moved = part("moved");
    if (origin && p.origin && p.origin !== origin) {
      moved.textContent = `The page moved from ${origin.replace("https://", "")} to ${name}. That is expected if you chose to sign in with that account.`;
      moved.hidden = false;
      say(moved.textContent);
    }
    origin = p.origin || origin;
  };
  const answer = (box, id, accept, value) => {
    box.hidden = true;
    frame(choose, words.encode(JSON.stringify({ id, accept, value })));
    keys.focus({ preventScroll: true });
  };
  const button = (label, click, kind = "btn small") => {
    const b = Object.assign(document.createElement("button"), { type: "button", className: kind, textContent: label });
    b.addEventListener("click", click);
    return b;
  };
  const show_picker = (box, c) => { // the field is this browser's own, and so is its window
    const field = document.createElement("input");
    for (const name of ["min", "max", "step"]) if (c[name]) field[name] = c[name];
    field.type = c.picker;
    field.value = c.value || "";
    field.setAttribute("aria-label", "Value for the page");
    const form = document.createElement("form");
    form.className = "picker";
    const done = button("Use this", () => {}, "btn small solid");
    done.type = "submit";
    form.addEventListener("submit", (e) => { e.preventDefault(); answer(box, c.id, true, field.value); });
    form.append(field, done, button("Leave it as it is", () => answer(box, c.id, false, "")));
    box.replaceChildren(form);
    field.focus();
  };
  const show_choices = (c) => {
    const box = part("choices");
    box.hidden = !c.options?.length && !c.picker;
    if (box.hidden) return;
    if (c.picker) { show_picker(box, c); return; }
    const list = c.options.map((o) => {
      const b = button(o.label || o.value, () => answer(box, c.id, true, o.value), "btn plain");
      b.disabled = Boolean(o.disabled);
      b.setAttribute("aria-pressed", String(Boolean(o.selected)));
      return b;
    });
    box.replaceChildren(...list, button("Leave it as it is", () => answer(box, c.id, false, "")));
    (list.find((b) => b.getAttribute("aria-pressed") === "true") || list[0]).focus();
  };
  const show_dialog = (d) => {
    const box = part("dialog");
    box.hidden = !d.kind;
    if (box.hidden) return;
    const field = Object.assign(document.createElement("input"), { value: d.default || "", maxLength: longest });
    field.setAttribute("aria-label", "Answer to the page");
    const says = Object.assign(document.createElement("p"), { textContent: d.kind === "beforeunload" ? "The page asks whether to leave it." : d.message });
    const from = Object.assign(document.createElement("p"), { className: "note", textContent: `${origin.replace("https://", "")} says:` });
    const done = button(d.kind === "beforeunload" ? "Leave the page" : "OK", () => answer(box, d.id, true, d.kind === "prompt" ? field.value : ""), "btn small solid");
    box.replaceChildren(from, says, ...(d.kind === "prompt" ? [field] : []), done, ...(d.kind === "alert" ? [] : [button("Cancel", () => answer(box, d.id, false, ""))]));
    (d.kind === "prompt" ? field : done).focus();
  };
  // One picture is drawn at a time, and then the newest that came meanwhile: those between are
  // old already, and a picture that took longer never covers a newer one.
  let drawing = false, newest = null;
  const draw = async (body) => {
    if (newest) frame(seen, newest.slice(0, 4));
    newest = body;
    if (drawing) return;
    drawing = true;
    while (newest) {
      const now = newest, head = new DataView(now.buffer, now.byteOffset);
      newest = null;
      try {
        const bitmap = await createImageBitmap(new Blob([now.subarray(16)], { type: "image/jpeg" }));
        size = { width: head.getUint16(4), height: head.getUint16(6) };
        if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) Object.assign(canvas, { width: bitmap.width, height: bitmap.height });
        paint.drawImage(bitmap, 0, 0);
        bitmap.close();
        stage.dataset.shown = head.getUint32(0);
        if (!stage.dataset.first) stage.dataset.first = String(performance.now());
      } catch { // not a picture: the next one is
      }
      frame(seen, now.slice(0, 4));
    }
    drawing = false;
  };
  const take = (data) => {
    if (typeof data === "string") {
      const n = JSON.parse(data);
      if (n.question) document.querySelectorAll("[data-question]").forEach((e) => { e.value = n.question; });
      if (n.machine) { part("machine").hidden = false; part("machine-name").textContent = n.machine; }
      over = n.state === "over";
      if (n.state === "lost") lost(); else show(n.state, n.why);
      if (n.state === "live") { look(); keys.focus({ preventScroll: true }); }
      return;
    }
    const body = new Uint8Array(data), rest = body.subarray(1);
    if (body[0] === picture) draw(rest);
    else if ([place, choices, dialog].includes(body[0])) ({ [place]: show_place, [choices]: show_choices, [dialog]: show_dialog })[body[0]](JSON.parse(text.decode(rest)));
  };
  const open = () => {
    socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${stage.dataset.surface}`);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => { tries = 0; look(); });
    socket.addEventListener("message", (e) => take(e.data));
    socket.addEventListener("close", (e) => {
      if (e.code === 4001) { location.reload(); return; }
      if (over || e.code === 4002) return;
      lost();
      setTimeout(open, Math.min(1000 * 2 ** tries++, 5000));
    });
  };

  // ---- The owner's hands.
  const modifiers = (e) => (e.altKey ? 1 : 0) | (e.ctrlKey ? 2 : 0) | (e.metaKey ? 4 : 0) | (e.shiftKey ? 8 : 0);
  const at = (e) => {
    const box = canvas.getBoundingClientRect();
    const within = (n, most) => Math.min(Math.max(n, 0), most - 1);
    return { x: within((e.clientX - box.left) * size.width / box.width, size.width), y: within((e.clientY - box.top) * size.height / box.height, size.height) };
  };
  const buttons = ["left", "middle", "right"];
  let moves = null, scroll = null, touch = null, clicks = { at: 0, n: 0 };
  const soon = (change) => {
    if (!moves && !scroll) requestAnimationFrame(() => {
      if (moves) act(moves);
      if (scroll) act(scroll);
      moves = scroll = null;
    });
    change();
  };
  const press = (e, action, n) => act({ kind: "pointer", action, ...at(e), button: buttons[e.button] || "left", buttons: e.buttons, clicks: n, modifiers: modifiers(e) });
  canvas.addEventListener("pointerdown", (e) => {
    e.preventDefault();
    keys.focus({ preventScroll: true });
    canvas.setPointerCapture(e.pointerId);
    if (e.pointerType === "touch") { touch = { x: e.clientX, y: e.clientY, moved: false }; return; }
    clicks = e.timeStamp - clicks.at < 400 ? { at: e.timeStamp, n: Math.min(clicks.n + 1, 3) } : { at: e.timeStamp, n: 1 };
    press(e, "down", clicks.n);
  });
  canvas.addEventListener("pointermove", (e) => {
    if (!touch) { soon(() => { moves = { kind: "pointer", action: "move", ...at(e), buttons: e.buttons, modifiers: modifiers(e) }; }); return; }
    const dx = touch.x - e.clientX, dy = touch.y - e.clientY;
    if (!touch.moved && Math.hypot(dx, dy) < 8) return;
    const before = scroll;
    soon(() => { scroll = { kind: "wheel", ...at(e), dx: dx + (before?.dx || 0), dy: dy + (before?.dy || 0) }; });
    touch = { x: e.clientX, y: e.clientY, moved: true };
  });
  canvas.addEventListener("pointerup", (e) => {
    if (!touch) { press(e, "up", clicks.n); return; }
    const tapped = !touch.moved;
    touch = null;
    if (!tapped) return;
    act({ kind: "pointer", action: "move", ...at(e) });
    act({ kind: "pointer", action: "down", ...at(e), button: "left", buttons: 1, clicks: 1 });
    act({ kind: "pointer", action: "up", ...at(e), button: "left", clicks: 1 });
  });
  canvas.addEventListener("pointercancel", () => { touch = null; });
  canvas.addEventListener("mousedown", (e) => e.preventDefault()); // it would take the focus away
  canvas.addEventListener("contextmenu", (e) => e.preventDefault());
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    const before = scroll;
    soon(() => { scroll = { kind: "wheel", ...at(e), dx: e.deltaX + (before?.dx || 0), dy: e.deltaY + (before?.dy || 0), modifiers: modifiers(e) }; });
  }, { passive: false });

  const type = (given) => {
    for (let rest = [...given]; rest.length; rest = rest.slice(1000)) act({ kind: "text", text: rest.slice(0, 1000).join("") });
  };
  let escaped = 0;
  const press_key = (e, action) => act({ kind: "key", action, key: e.key, code: e.code, modifiers: modifiers(e) });
  const held = (e) => e.isComposing || e.key === "Unidentified" || e.key === "Process" || e.keyCode === 229; // a phone's keyboard, or an input method
  const pastes = (e) => (e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "v";
  keys.addEventListener("keydown", (e) => {
    if (held(e) || pastes(e)) return;
    e.preventDefault();
    e.stopPropagation();
    if (e.key === "Escape") {
      if (e.timeStamp - escaped < 1000) { part("leave").focus(); return; }
      escaped = e.timeStamp;
    }
    press_key(e, "down");
  });
  keys.addEventListener("keyup", (e) => { if (!held(e) && !pastes(e)) press_key(e, "up"); });
  keys.addEventListener("input", (e) => {
    if (e.isComposing) return;
    if (e.inputType === "deleteContentBackward") for (const action of ["down", "up"]) act({ kind: "key", action, key: "Backspace", code: "Backspace" });
    else if (e.inputType === "insertLineBreak") for (const action of ["down", "up"]) act({ kind: "key", action, key: "Enter", code: "Enter" });
    else if (e.data) type(e.data);
    keys.value = " "; // so that a phone has something to delete
  });
  keys.addEventListener("compositionend", (e) => { if (e.data) type(e.data); keys.value = " "; });
  keys.addEventListener("paste", (e) => { e.preventDefault(); type(e.clipboardData.getData("text/plain")); });
  keys.addEventListener("focus", () => { keys.value = " "; stage.dataset.typing = ""; });
  keys.addEventListener("blur", () => { delete stage.dataset.typing; });
  part("text-form").addEventListener("submit", (e) => {
    e.preventDefault();
    const field = part("text");
    type(field.value);
    field.value = "";
    keys.focus({ preventScroll: true });
  });
  for (const [name, click] of Object.entries({ back: () => act({ kind: "back" }), reload: () => act({ kind: "reload" }), take: () => wish({ take: true }), go: () => wish({ go: true }) })) {
    for (const b of document.querySelectorAll(`[data-do="${name}"]`)) b.addEventListener("click", click);
  }
  let resized;
  addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(() => state === "live" && look(), 200); });
  show("opening");
  open();
})();
