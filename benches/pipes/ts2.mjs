// The server of ../src/pipes/server.rs on the TypeScript SDK 2.x. Copied beside its packages before it runs.
import { readFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const full = readFileSync(process.env.BENCH_TEXT, 'utf8');
const text = (value) => ({ content: [{ type: 'text', text: value }] });
serveStdio(() => {
  const server = new McpServer({ name: 'alerts', version: '1.0.0' });
  server.registerTool(
    'get_alerts',
    { description: 'Warnings for a state, in short.', inputSchema: z.object({ state: z.string() }) },
    async ({ state }) => text(`No active alerts for ${state}.`),
  );
  server.registerTool(
    'get_alerts_full',
    { description: 'Warnings for a state, in full.', inputSchema: z.object({ state: z.string() }) },
    async () => text(full),
  );
  return server;
});
