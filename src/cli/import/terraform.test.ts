import { expect, test } from "vitest";
import { kinds } from "../../kinds/index.ts";
import { parseTerraform, removedBlocks } from "./terraform.ts";

const resource = (name: string, instances: object[], more: object = {}) => ({
  mode: "managed",
  type: "gateway_thing",
  name,
  ...more,
  instances,
});

const one = (id: string, more: object = {}) => ({ attributes: { id }, ...more });

const state = {
  version: 4,
  resources: [
    resource("office", [one("ipp_1")]),
    resource("web", [one("edgtls_1", { index_key: "eu" }), one("edgtls_2", { index_key: 0 })], {
      module: 'module.shop["a"].module.front',
    }),
    resource("bucket", [one("my-bucket")], { type: "aws_s3_bucket" }),
    resource("data", [one("ipp_2")], { mode: "data" }),
  ],
};

const shown = {
  values: {
    root_module: {
      resources: [
        { mode: "managed", type: "gateway_thing", name: "office", values: { id: "ipp_1" } },
        { mode: "managed", type: "aws_s3_bucket", name: "bucket", values: { id: "my-bucket" } },
        { mode: "data", type: "gateway_thing", name: "data", values: { id: "ipp_2" } },
      ],
      child_modules: [
        {
          address: 'module.shop["a"]',
          child_modules: [
            {
              address: 'module.shop["a"].module.front',
              resources: [
                { mode: "managed", type: "gateway_thing", name: "web", index: "eu", values: { id: "edgtls_1" } },
                { mode: "managed", type: "gateway_thing", name: "web", index: 0, values: { id: "edgtls_2" } },
              ],
            },
          ],
        },
      ],
    },
  },
};

test.each([
  ["a state file", state],
  ["terraform show -json", shown],
])("%s gives names from addresses, and leaves out data and what is not of the service", (_, given) => {
  const { resources, others } = parseTerraform(JSON.stringify(given), "state", kinds);
  expect(resources.map(({ id, name }) => [id, name])).toEqual([
    ["ipp_1", "office"],
    ["edgtls_1", "shop-a-front-web-eu"],
    ["edgtls_2", "shop-a-front-web-0"],
  ]);
  expect(others).toEqual(["aws_s3_bucket.bucket"]);
});

test("Terraform forgets each resource once, without destroying it", () => {
  const { resources } = parseTerraform(JSON.stringify(state), "state", kinds);
  expect(removedBlocks(resources)).toMatchInlineSnapshot(`
    "removed {
      from = gateway_thing.office
      lifecycle {
        destroy = false
      }
    }

    removed {
      from = module.shop.module.front.gateway_thing.web
      lifecycle {
        destroy = false
      }
    }
    "
  `);
});

test.each(["", "[]", "{}", '{"version": 3}', '{"values": {}}'])("%s is refused in one line", (text) => {
  expect(() => parseTerraform(text, "x.tfstate", kinds)).toThrow(
    /^Give another --terraform: x.tfstate is no state file/,
  );
});

test("every kind of the account is known by its id", () => {
  const listed = kinds.filter(({ location }) => location.type === "collection");
  const resources = listed.map(({ kind, resource: { idPrefix } }) =>
    resource(kind.toLowerCase(), [one(`${idPrefix}1`)]),
  );
  expect(parseTerraform(JSON.stringify({ version: 4, resources }), "state", kinds).resources).toHaveLength(
    listed.length,
  );
});

test.each([
  { name: 'x\n}\nresource "null_resource" "y" {' },
  { name: "x.y" },
  { type: "gateway thing" },
  { module: "module.shop\n" },
  { module: 'module.shop["a"]]' },
  { module: 'module.shop["a\n"]' },
  { module: "shop" },
])("no state with %j reaches a file that Terraform reads", (more) => {
  const text = JSON.stringify({ version: 4, resources: [resource("x", [one("ipp_1")], more)] });
  expect(() => parseTerraform(text, "x.tfstate", kinds)).toThrow(/^Give another --terraform: x.tfstate is no state/);
});

test("a key of a module with brackets and quotes is no part of the address", () => {
  const module = String.raw`module.shop["a]\"b"].module.front[0]`;
  const { resources } = parseTerraform(
    JSON.stringify({ version: 4, resources: [resource("x", [one("ipp_1")], { module })] }),
    "x.tfstate",
    kinds,
  );
  expect(removedBlocks(resources)).toContain("from = module.shop.module.front.gateway_thing.x\n");
});
