import type { ResourceType } from "../../runtime/object.ts";

export const namespaces: ResourceType = {
  group: "",
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
};
export const definitions: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};
export const configMaps: ResourceType = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap" };
export const dnsEndpoints: ResourceType = {
  group: "externaldns.k8s.io",
  version: "v1alpha1",
  plural: "dnsendpoints",
  kind: "DNSEndpoint",
};
export const roleBindings: ResourceType = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  plural: "rolebindings",
  kind: "RoleBinding",
};
export const secrets: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret" };
