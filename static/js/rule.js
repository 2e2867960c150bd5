// Keys of the list of rules: Alt and an arrow moves the rule that has the focus.

const STEPS = { ArrowUp: "up", ArrowDown: "down" };

document.querySelector(".rules")?.addEventListener("keydown", (event) => {
  const row = event.target.closest(".rule");
  const step = row?.querySelector(`button[value="${STEPS[event.key]}"]`);
  if (!event.altKey || !step) return;
  event.preventDefault();
  step.form.requestSubmit(step);
});
