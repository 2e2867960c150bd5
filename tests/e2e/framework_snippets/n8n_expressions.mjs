/** Evaluate the expressions of an n8n node's parameters: {parameters, variables} from stdin. */

import { readFileSync } from "node:fs";

const { parameters, variables } = JSON.parse(readFileSync(0, "utf8"));
const names = Object.keys(variables.globals);
const first = (node) => ({ first: () => ({ json: variables.nodes[node] }) });

function evaluate(code) {
  return new Function("$", ...names, `return (${code});`)(first, ...Object.values(variables.globals));
}

function resolve(value) {
  if (Array.isArray(value)) return value.map(resolve);
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resolve(item)]));
  }
  if (typeof value !== "string" || !value.startsWith("=")) return value;
  const whole = /^=\{\{(.*)\}\}$/s.exec(value);
  if (whole && !whole[1].includes("}}")) return evaluate(whole[1]);
  return value.slice(1).replace(/\{\{(.*?)\}\}/gs, (_, code) => String(evaluate(code)));
}

console.log(JSON.stringify(resolve(parameters)));
