/** Ask and run with a key, and die after one step: `<key> <step>`. Prints each step. */

import { Signoff } from "signoff-client";

const [key = "", last = ""] = process.argv.slice(2);

function reach(step: string): void {
  console.log(step);
  if (step === last) process.kill(process.pid, "SIGKILL");
}

const set = await new Signoff().ask({ tool: "refund", args: { amount: 1 } }, { key });
reach("asked");
const { item } = await set.wait();
reach("decided");
try {
  await item.run(() => reach("executed"));
  reach("reported");
} catch (error) {
  reach((error as Error).name);
}
