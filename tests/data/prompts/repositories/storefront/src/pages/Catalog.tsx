import { PriceTag } from "../components/PriceTag";

export function Catalog() {
  return <PriceTag cents={100} />;
}
