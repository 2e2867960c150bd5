// Passkeys: fills in the forms that ask for one with what the browser answers.
// Such a form is hidden until there is a browser that can.

const canAsk = Boolean(window.PublicKeyCredential?.parseRequestOptionsFromJSON);

async function optionsOf(form) {
  if (form.dataset.options) return JSON.parse(form.dataset.options).publicKey;
  const answer = await fetch(form.action, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return (await answer.json()).request_options.publicKey;
}

async function ask(form) {
  const options = await optionsOf(form);
  if (form.dataset.passkey === "create") {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    return navigator.credentials.create({ publicKey });
  }
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return navigator.credentials.get({ publicKey });
}

async function fillIn(event) {
  const form = event.target;
  const problem = form.querySelector("[role=alert]");
  event.preventDefault();
  problem.hidden = true;
  try {
    form.elements.credential.value = JSON.stringify(await ask(form));
    form.submit();
  } catch {
    // Who has called it off is told the same as who has none: browsers do not say which it was.
    problem.hidden = false;
  }
}

if (canAsk) {
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.hidden = false;
    form.addEventListener("submit", fillIn);
  }
  for (const note of document.querySelectorAll("[data-without-passkeys]")) note.hidden = true;
}
