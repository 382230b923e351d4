// Drives a server by a client of the TypeScript SDK 1.x: MODE PLAN -- COMMAND ARGS… (see py.py for plan and output).
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const [, planText, , command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'peer', version: '1.0.0' });
const transport = new StdioClientTransport({ command, args });
await client.connect(transport);
const out = { version: transport._protocolVersion ?? 'legacy' };
for (const [step, call] of JSON.parse(planText)) {
  if (call === null) {
    out[step] = { names: (await client.listTools()).tools.map((tool) => tool.name) };
    continue;
  }
  const [name, given] = call;
  try {
    const timeout = step === 'timeout' ? 2000 : 30000;
    const result = await client.callTool({ name, arguments: given }, undefined, { timeout });
    out[step] = { text: result.content.map((b) => b.text ?? '').join(''), failed: result.isError === true };
  } catch (error) {
    out[step] = error.code === -32001 ? { timeout: true } : { code: error.code, message: String(error) };
  }
}
console.log(JSON.stringify(out));
await client.close();
