import type { FastifyInstance } from "fastify";

const hits = new Map<string, number[]>();

export async function rateLimit(app: FastifyInstance, opts: { max: number; windowMs: number }) {
  app.addHook("onRequest", async (req, reply) => {
    const now = Date.now();
    const list = (hits.get(req.ip) ?? []).filter((t) => now - t < opts.windowMs);
    list.push(now);
    hits.set(req.ip, list);
    if (list.length > opts.max) return reply.code(429).send({ error: "rate_limited" });
  });
}
