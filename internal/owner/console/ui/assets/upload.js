// Sends files in pieces, shows how far it is, and goes on by itself after a cut. Without it the form
// posts by itself.
(() => {
  const pieceBytes = 8 * 1024 * 1024;
  const patience = 10 * 60 * 1000; // without a byte that arrives, before it is given up

  const size = (bytes) => {
    const units = ["bytes", "kB", "MB", "GB"];
    let n = bytes, unit = 0;
    while (n >= 1000 && unit < units.length - 1) { n /= 1000; unit++; }
    return `${unit && n < 10 ? n.toFixed(1) : Math.round(n)} ${units[unit]}`;
  };

  // SHA-256 of what is given in pieces, which the browser's own cannot: the server compares the whole
  // file with it.
  const primes = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
  const bits = (x) => ((x - Math.floor(x)) * 0x100000000) | 0;
  const constants = new Int32Array(primes.map((p) => bits(Math.cbrt(p))));
  class Sum {
    state = new Int32Array(primes.slice(0, 8).map((p) => bits(Math.sqrt(p))));
    words = new Int32Array(64);
    rest = new Uint8Array(0); // less than a block
    bytes = 0;
    add(piece) {
      this.bytes += piece.length;
      const all = new Uint8Array(this.rest.length + piece.length);
      all.set(this.rest);
      all.set(piece, this.rest.length);
      const whole = all.length - (all.length % 64);
      this.blocks(all, whole);
      this.rest = all.slice(whole);
    }
    blocks(all, end) {
      const w = this.words, s = this.state, k = constants, view = new DataView(all.buffer);
      for (let at = 0; at < end; at += 64) {
        for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + 4 * i);
        for (let i = 16; i < 64; i++) {
          const x = w[i - 15], y = w[i - 2];
          const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
          const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
          w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
        }
        let a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
        for (let i = 0; i < 64; i++) {
          const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
          const t1 = (h + s1 + ((e & f) ^ (~e & g)) + k[i] + w[i]) | 0;
          const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
          const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
          h = g; g = f; f = e; e = (d + t1) | 0; d = c; c = b; b = a; a = (t1 + t2) | 0;
        }
        s[0] += a; s[1] += b; s[2] += c; s[3] += d; s[4] += e; s[5] += f; s[6] += g; s[7] += h;
      }
    }
    hex() {
      const length = this.bytes;
      const last = new Uint8Array((64 - ((this.rest.length + 9) % 64)) % 64 + 9);
      last[0] = 0x80;
      const view = new DataView(last.buffer);
      view.setUint32(last.length - 8, Math.floor(length / 0x20000000));
      view.setUint32(last.length - 4, (length << 3) >>> 0);
      this.add(last);
      return [...this.state].map((n) => (n >>> 0).toString(16).padStart(8, "0")).join("");
    }
  }

  class Refused extends Error {}
  // ask sends one request. What the server refuses is an error with its words; a broken line, and a
  // server that is away, gives nothing.
  const ask = (method, path, body, progress) => new Promise((done, refuse) => {
    const request = new XMLHttpRequest();
    request.open(method, path);
    request.responseType = "json";
    request.setRequestHeader("Accept", "application/json");
    if (body && !(body instanceof Blob)) {
      request.setRequestHeader("Content-Type", "application/json");
      body = JSON.stringify(body);
    } else if (body) request.setRequestHeader("Content-Type", "application/octet-stream");
    if (progress) request.upload.addEventListener("progress", (p) => progress(p.loaded));
    request.addEventListener("load", () => {
      const problem = request.response?.error;
      if (request.status < 300) done(request.response ?? {});
      else if (request.status === 404) done({ missing: true });
      else if (request.status === 401) refuse(new Refused("You are signed out. Sign in, then choose the same file again: it goes on where it stopped."));
      else if (request.status >= 500 && request.status !== 507 || ["upload_offset", "file_cut_short"].includes(problem?.code) || request.status === 429) done(null);
      else refuse(new Refused([problem?.message, problem?.next_step].filter(Boolean).join(" ") || "The server did not take the file."));
    });
    request.addEventListener("error", () => done(null));
    request.addEventListener("abort", () => done(null));
    request.send(body ?? null);
  });
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  // persistently asks until there is an answer.
  const persistently = async (tell, attempt) => {
    const since = Date.now();
    for (let pause = 500; ; pause = Math.min(2 * pause, 15000)) {
      const got = await attempt();
      if (got) return got;
      if (Date.now() - since > patience) throw new Refused("The server does not answer. What was sent is kept for three days: choose the same file again, and it goes on.");
      tell("The line broke. It goes on by itself.");
      await wait(pause);
    }
  };

  // remembered is which upload a file has, so that it goes on after the page was left.
  const remembered = {
    get(key) { try { return JSON.parse(localStorage.getItem(key)); } catch { return null; } },
    set(key, value) { try { value ? localStorage.setItem(key, JSON.stringify(value)) : localStorage.removeItem(key); } catch { /* it begins anew then */ } },
  };

  const at = (connection, upload) => `/_ref/connections/${encodeURIComponent(connection)}/uploads${upload ? "/" + encodeURIComponent(upload) : ""}`;

  // send brings one file to its receipt.
  const send = async (file, place, tell, show) => {
    const key = `pdpp upload ${place.connector ?? place.connection} ${file.name} ${file.size} ${file.lastModified}`;
    const old = remembered.get(key);
    let upload = null;
    if (old && (!place.connection || old.connection === place.connection)) {
      const got = await persistently(tell, () => ask("GET", at(old.connection, old.upload)));
      if (!got.missing) { upload = got; place.connection = old.connection; }
    }
    const begin = async (sha256) => {
      if (!place.connection) {
        const made = await persistently(tell, () => ask("POST", "/_ref/connections", { connector_id: place.connector, display_name: place.name(), fields: {}, await_file: true }));
        place.connection = place.made = made.connection_id;
      }
      const got = await persistently(tell, () => ask("POST", at(place.connection), { name: file.name, bytes: file.size, sha256 }));
      if (got.missing) throw new Refused("This connection is not there any more.");
      if (got.upload_id) remembered.set(key, { connection: place.connection, upload: got.upload_id });
      return got;
    };
    upload ??= await begin();
    const sum = new Sum();
    while (!upload.import) {
      const offset = upload.received, end = Math.min(offset + pieceBytes, file.size);
      while (sum.bytes < end) {
        const upTo = Math.min(sum.bytes + pieceBytes, end);
        sum.add(new Uint8Array(await file.slice(sum.bytes, upTo).arrayBuffer()));
        if (upTo < end) tell(`Reading what was sent, ${size(upTo)} of ${size(end)}`);
      }
      const whole = end === file.size ? (sum.digest ??= sum.hex()) : "";
      const query = `?offset=${offset}${whole ? "&sha256=" + whole : ""}`;
      let got = await ask("PATCH", at(place.connection, upload.upload_id) + query, file.slice(offset, end), (sent) => show(offset + sent, file.size));
      if (!got) {
        tell("The line broke. It goes on by itself.");
        await wait(500);
        got = await persistently(tell, () => ask("GET", at(place.connection, upload.upload_id)));
      }
      // It came to its end and the answer was lost, or somebody dropped it.
      upload = got.missing ? await begin(whole || undefined) : got;
      show(upload.received, file.size);
    }
    remembered.set(key, null);
    return upload.import;
  };

  for (const form of document.querySelectorAll("form[data-upload]")) {
    const input = form.querySelector("input[type=file]");
    const chosen = form.querySelector("[data-chosen]");
    const area = form.querySelector("[data-sending]");
    const bar = area.querySelector("progress");
    const words = area.querySelector("[data-sent]");
    const button = form.querySelector("button");
    const wrong = (text) => {
      let message = form.querySelector("[data-upload-error]");
      if (!message) {
        message = Object.assign(document.createElement("p"), { className: "error" });
        message.setAttribute("role", "alert");
        message.dataset.uploadError = "";
        chosen.before(message);
      }
      message.textContent = text;
    };
    const tooLarge = () => [...input.files].find((f) => f.size > Number(input.dataset.most));
    input.addEventListener("change", () => {
      form.querySelector("[data-upload-error]")?.remove();
      const files = [...input.files];
      chosen.textContent = files.map((f) => `${f.name}, ${size(f.size)}`).join("; ");
      const large = tooLarge();
      if (large) wrong(`${large.name} is larger than ${size(Number(input.dataset.most))}. Choose another file.`);
    });
    form.addEventListener("submit", async (e) => {
      e.preventDefault();
      if (tooLarge() || button.getAttribute("aria-busy")) return;
      form.querySelector("[data-upload-error]")?.remove();
      const word = button.textContent;
      button.setAttribute("aria-busy", "true");
      button.textContent = button.dataset.busy;
      area.hidden = false;
      const place = { connection: form.dataset.connection, connector: form.dataset.connector, name: () => form.elements.display_name?.value.trim() ?? "" };
      const tell = (text) => { words.textContent = text; };
      const show = (sent, all) => {
        bar.value = (100 * sent) / all;
        tell(sent < all ? `${size(sent)} of ${size(all)} sent` : "Sent. Waiting for the receipt.");
      };
      const given = [];
      try {
        for (const file of input.files) given.push(await send(file, place, tell, show));
      } catch (problem) {
        button.removeAttribute("aria-busy");
        button.textContent = word;
        area.hidden = true;
        // A connection is made with its first file or not at all.
        if (place.made && given.length === 0 && problem instanceof Refused) await ask("POST", `/_ref/connections/${encodeURIComponent(place.made)}/revoke`).catch(() => null);
        wrong(problem instanceof Refused ? problem.message : "The file could not be read. Choose it again.");
        if (given.length > 0) wrong(`${given.length === 1 ? "1 file is" : given.length + " files are"} here; the next one is not. ${problem.message}`);
        return;
      }
      const query = new URLSearchParams();
      for (const i of given) {
        query.append("import", i.import_id);
        if (i.already_imported) query.append("already", i.import_id);
      }
      location.assign(`/sources/${encodeURIComponent(place.connection)}/files/given?${query}`);
    });
  }
})();
