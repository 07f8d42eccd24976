// Shows a push, and opens the page that it is about. A push names the connection and
// says what happened and what next; it holds nothing secret.
addEventListener("push", (event) => {
  let said = {};
  try { said = event.data.json(); } catch { /* a push without text */ }
  event.waitUntil(self.registration.showNotification(said.display_name || "A connection needs you", {
    body: [said.happened, said.next].filter(Boolean).join(" ") || said.owner_copy || "",
    tag: said.attention_id || undefined,
    data: { link: said.link || "/" },
  }));
});

addEventListener("notificationclick", (event) => {
  event.notification.close();
  const address = new URL(event.notification.data.link, self.location.origin);
  const here = address.origin === self.location.origin ? address.href : self.location.origin + "/";
  event.waitUntil(self.clients.openWindow(here));
});
