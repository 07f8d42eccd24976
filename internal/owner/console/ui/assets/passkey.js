// Asks this browser for a passkey: to sign in, to confirm, or to add one. A button says
// which by data-passkey; its form may have fields "label" and "next". Where a browser
// has no passkeys the button stays hidden, and the password does.
(() => {
  if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON || !PublicKeyCredential.parseCreationOptionsFromJSON) return;

  const post = async (address, body) => {
    const answer = await fetch(address, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    const said = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error([said.error?.message, said.error?.next_step].filter(Boolean).join(" ") || "The server did not answer. Try again.");
    return said;
  };

  for (const button of document.querySelectorAll("[data-passkey]")) {
    const form = button.closest("form");
    const say = (text) => { form.querySelector("[data-passkey-say]").textContent = text; };
    const address = "/passkey/" + button.dataset.passkey;
    button.hidden = false;
    button.addEventListener("click", async () => {
      button.setAttribute("aria-busy", "true");
      say("");
      try {
        const asked = await post(address + "/begin", {});
        const adding = button.dataset.passkey === "add";
        const credential = adding
          ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(asked.publicKey) })
          : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(asked.publicKey) });
        await post(address + "/finish", { ceremony: asked.ceremony, credential: credential.toJSON(), label: form.elements.label?.value ?? "" });
        location.assign(form.elements.next?.value || "/");
      } catch (problem) {
        say(problem instanceof DOMException
          ? problem.name === "InvalidStateError" ? "This device has a passkey for this server already." : "The browser gave no passkey. Try again, or use your password."
          : problem.message);
      } finally {
        button.removeAttribute("aria-busy");
      }
    });
  }
})();
