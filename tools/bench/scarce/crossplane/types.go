package main

import (
	"maps"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "crossplane.tunnelgateway.dev", Version: "v1"}

// Spec has the fields of both kinds that the bench sets, beside those of all managed resources.
type Spec struct {
	xpv2.ManagedResourceSpec `json:",inline"`
	Domain                   string            `json:"domain,omitempty"`
	Labels                   map[string]string `json:"labels,omitempty"`
	Description              string            `json:"description,omitempty"`
}

// Resource is what both kinds have in common.
type Resource struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              Spec                       `json:"spec,omitempty"`
	Status            xpv2.ManagedResourceStatus `json:"status,omitempty"`
}

func (in *Resource) resource() *Resource { return in }

func (in *Resource) copyInto(out *Resource) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	in.Spec.ManagedResourceSpec.DeepCopyInto(&out.Spec.ManagedResourceSpec)
	out.Spec.Labels = maps.Clone(in.Spec.Labels)
	in.Status.DeepCopyInto(&out.Status)
}

func (in *Resource) GetCondition(of xpv2.ConditionType) xpv2.Condition {
	return in.Status.GetCondition(of)
}

func (in *Resource) SetConditions(conditions ...xpv2.Condition) {
	in.Status.SetConditions(conditions...)
}

func (in *Resource) GetManagementPolicies() xpv2.ManagementPolicies {
	return in.Spec.ManagementPolicies
}

func (in *Resource) SetManagementPolicies(policies xpv2.ManagementPolicies) {
	in.Spec.ManagementPolicies = policies
}

func (in *Resource) GetProviderConfigReference() *xpv2.ProviderConfigReference {
	return in.Spec.ProviderConfigReference
}

func (in *Resource) SetProviderConfigReference(reference *xpv2.ProviderConfigReference) {
	in.Spec.ProviderConfigReference = reference
}

func (in *Resource) GetWriteConnectionSecretToReference() *xpv2.LocalSecretReference {
	return in.Spec.WriteConnectionSecretToReference
}

func (in *Resource) SetWriteConnectionSecretToReference(reference *xpv2.LocalSecretReference) {
	in.Spec.WriteConnectionSecretToReference = reference
}

// object is an object of one of the kinds.
type object interface {
	resource.ModernManaged
	resource() *Resource
}

type CrossplaneDomain struct{ Resource }

func (in *CrossplaneDomain) DeepCopyObject() runtime.Object {
	out := new(CrossplaneDomain)
	in.copyInto(&out.Resource)
	return out
}

type CrossplaneDomainList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []CrossplaneDomain `json:"items"`
}

func (in *CrossplaneDomainList) DeepCopyObject() runtime.Object {
	out := &CrossplaneDomainList{TypeMeta: in.TypeMeta, ListMeta: *in.ListMeta.DeepCopy()}
	out.Items = make([]CrossplaneDomain, len(in.Items))
	for index := range in.Items {
		in.Items[index].copyInto(&out.Items[index].Resource)
	}
	return out
}

type CrossplaneTunnelGroup struct{ Resource }

func (in *CrossplaneTunnelGroup) DeepCopyObject() runtime.Object {
	out := new(CrossplaneTunnelGroup)
	in.copyInto(&out.Resource)
	return out
}

type CrossplaneTunnelGroupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []CrossplaneTunnelGroup `json:"items"`
}

func (in *CrossplaneTunnelGroupList) DeepCopyObject() runtime.Object {
	out := &CrossplaneTunnelGroupList{TypeMeta: in.TypeMeta, ListMeta: *in.ListMeta.DeepCopy()}
	out.Items = make([]CrossplaneTunnelGroup, len(in.Items))
	for index := range in.Items {
		in.Items[index].copyInto(&out.Items[index].Resource)
	}
	return out
}

func addToScheme(scheme *runtime.Scheme) {
	scheme.AddKnownTypes(groupVersion,
		&CrossplaneDomain{}, &CrossplaneDomainList{}, &CrossplaneTunnelGroup{}, &CrossplaneTunnelGroupList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
}
