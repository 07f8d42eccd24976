// Subscribes this browser to pushes: the button fills in the form beside it and sends
// it. Where a browser has no pushes, or the page came without TLS, it stays hidden.
(() => {
  const button = document.querySelector("[data-push]");
  const form = button?.closest("form");
  if (!form || !("serviceWorker" in navigator) || !("PushManager" in window)) return;
  button.hidden = false;

  const bytes = (text) => {
    const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(plain, (c) => c.charCodeAt(0));
  };
  const say = (text) => { form.querySelector("[data-push-say]").textContent = text; };

  button.addEventListener("click", async () => {
    button.setAttribute("aria-busy", "true");
    try {
      if (await Notification.requestPermission() !== "granted") {
        say("The browser does not allow notifications from this page. Allow them in its settings and try again.");
        return;
      }
      await navigator.serviceWorker.register("/push-worker.js");
      const worker = await navigator.serviceWorker.ready;
      const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(button.dataset.push) });
      const { endpoint, keys } = made.toJSON();
      form.elements.endpoint.value = endpoint;
      form.elements.p256dh.value = keys.p256dh;
      form.elements.auth.value = keys.auth;
      form.submit();
    } catch {
      say("The browser could not subscribe. Try again, or use another browser.");
    } finally {
      button.removeAttribute("aria-busy");
    }
  });
})();
