import { build } from "./app";

const app = build();
app.listen({ port: Number(process.env.PORT ?? 3001), host: "0.0.0.0" });
