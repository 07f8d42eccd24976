// Progress while files are sent. Without it the form posts by itself.
(() => {
  const size = (bytes) => {
    const units = ["bytes", "kB", "MB", "GB"];
    let n = bytes, unit = 0;
    while (n >= 1000 && unit < units.length - 1) { n /= 1000; unit++; }
    return `${unit && n < 10 ? n.toFixed(1) : Math.round(n)} ${units[unit]}`;
  };
  for (const form of document.querySelectorAll("form[data-upload]")) {
    const input = form.querySelector("input[type=file]");
    const chosen = form.querySelector("[data-chosen]");
    const area = form.querySelector("[data-sending]");
    const bar = area.querySelector("progress");
    const words = area.querySelector("[data-sent]");
    const button = form.querySelector("button");
    const tell = (text) => {
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
      if (large) tell(`${large.name} is larger than ${size(Number(input.dataset.most))}. Choose another file.`);
    });
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      if (tooLarge() || button.getAttribute("aria-busy")) return;
      const word = button.textContent;
      button.setAttribute("aria-busy", "true");
      button.textContent = button.dataset.busy;
      area.hidden = false;
      const end = (text) => {
        button.removeAttribute("aria-busy");
        button.textContent = word;
        area.hidden = true;
        tell(text);
      };
      const request = new XMLHttpRequest();
      request.open("POST", form.action);
      request.setRequestHeader("X-Upload", "script");
      request.responseType = "json";
      request.upload.addEventListener("progress", (p) => {
        if (!p.lengthComputable) return;
        bar.value = (100 * p.loaded) / p.total;
        words.textContent = p.loaded < p.total ? `${size(p.loaded)} of ${size(p.total)} sent` : "Sent. Waiting for the receipt.";
      });
      request.addEventListener("load", () => {
        const to = request.response?.location;
        if (request.status < 300 && to?.startsWith("/")) location.assign(to);
        else end(request.response?.error || "The server did not take the file. Nothing was kept.");
      });
      request.addEventListener("error", () => end("The line broke before the file was sent. Nothing was kept. Send it again."));
      request.send(new FormData(form));
    });
  }
})();
