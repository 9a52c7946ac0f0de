package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var groupVersion = schema.GroupVersion{Group: "peer.tunnelgateway.dev", Version: "v1"}

// Spec has the fields of both kinds that the bench sets.
type Spec struct {
	Domain      string            `json:"domain,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Description string            `json:"description,omitempty"`
}

type Status struct {
	ID                 string             `json:"id,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// Resource is what both kinds have in common.
type Resource struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              Spec   `json:"spec,omitempty"`
	Status            Status `json:"status,omitempty"`
}

func (in *Resource) resource() *Resource { return in }

func (in *Resource) copyInto(out *Resource) {
	out.TypeMeta = in.TypeMeta
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec = in.Spec
	if in.Spec.Labels != nil {
		out.Spec.Labels = make(map[string]string, len(in.Spec.Labels))
		for key, value := range in.Spec.Labels {
			out.Spec.Labels[key] = value
		}
	}
	out.Status = in.Status
	out.Status.Conditions = append([]metav1.Condition(nil), in.Status.Conditions...)
}

// object is an object of one of the kinds.
type object interface {
	client.Object
	resource() *Resource
}

type PeerDomain struct{ Resource }

func (in *PeerDomain) DeepCopyObject() runtime.Object {
	out := new(PeerDomain)
	in.copyInto(&out.Resource)
	return out
}

type PeerDomainList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PeerDomain `json:"items"`
}

func (in *PeerDomainList) DeepCopyObject() runtime.Object {
	out := &PeerDomainList{TypeMeta: in.TypeMeta, ListMeta: *in.ListMeta.DeepCopy()}
	out.Items = make([]PeerDomain, len(in.Items))
	for index := range in.Items {
		in.Items[index].copyInto(&out.Items[index].Resource)
	}
	return out
}

type PeerTunnelGroup struct{ Resource }

func (in *PeerTunnelGroup) DeepCopyObject() runtime.Object {
	out := new(PeerTunnelGroup)
	in.copyInto(&out.Resource)
	return out
}

type PeerTunnelGroupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PeerTunnelGroup `json:"items"`
}

func (in *PeerTunnelGroupList) DeepCopyObject() runtime.Object {
	out := &PeerTunnelGroupList{TypeMeta: in.TypeMeta, ListMeta: *in.ListMeta.DeepCopy()}
	out.Items = make([]PeerTunnelGroup, len(in.Items))
	for index := range in.Items {
		in.Items[index].copyInto(&out.Items[index].Resource)
	}
	return out
}

func addToScheme(scheme *runtime.Scheme) {
	scheme.AddKnownTypes(groupVersion,
		&PeerDomain{}, &PeerDomainList{}, &PeerTunnelGroup{}, &PeerTunnelGroupList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
}
