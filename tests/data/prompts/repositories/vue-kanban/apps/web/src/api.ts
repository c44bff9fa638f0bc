export async function api<T>(path: string, init?: RequestInit): Promise<T> {
  const res = await fetch(`/api${path}`, {
    ...init,
    headers: { "content-type": "application/json", authorization: `Bearer ${localStorage.getItem("token")}` },
  });
  if (!res.ok) throw new Error(`${res.status} ${path}`);
  return res.json();
}
