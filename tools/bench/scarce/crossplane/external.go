package main

import (
	"context"
	"errors"
	"maps"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// external is the client of one collection of the service, as the managed reconciler calls it. The external name of an
// object is the id of its remote, which the service assigns.
type external struct{ service *service }

// Connect has nothing to do: there is one account, whose key is in the environment.
func (e *external) Connect(context.Context, resource.Managed) (managed.ExternalClient, error) {
	return e, nil
}

func (e *external) Disconnect(context.Context) error { return nil }

func (e *external) Observe(ctx context.Context, mg resource.Managed) (managed.ExternalObservation, error) {
	id := meta.GetExternalName(mg)
	if id == "" {
		return managed.ExternalObservation{}, nil
	}
	found, err := e.service.get(ctx, id)
	if isNotFound(err) {
		return managed.ExternalObservation{}, nil
	}
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	mg.SetConditions(xpv2.Available())
	wanted := wantedBy(mg)
	isUpToDate := found.Description == wanted.Description && maps.Equal(found.Labels, wanted.Labels)
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: isUpToDate}, nil
}

func (e *external) Create(ctx context.Context, mg resource.Managed) (managed.ExternalCreation, error) {
	made, err := e.service.create(ctx, wantedBy(mg))
	if err == nil {
		meta.SetExternalName(mg, made.ID)
	}
	return managed.ExternalCreation{}, err
}

func (e *external) Update(ctx context.Context, mg resource.Managed) (managed.ExternalUpdate, error) {
	wanted := wantedBy(mg)
	// The service takes the name of a domain on create only.
	wanted.Domain = ""
	return managed.ExternalUpdate{}, e.service.update(ctx, meta.GetExternalName(mg), wanted)
}

func (e *external) Delete(ctx context.Context, mg resource.Managed) (managed.ExternalDelete, error) {
	err := e.service.delete(ctx, meta.GetExternalName(mg))
	if isNotFound(err) {
		err = nil
	}
	return managed.ExternalDelete{}, err
}

func wantedBy(mg resource.Managed) remote {
	spec := mg.(object).resource().Spec
	return remote{Domain: spec.Domain, Labels: spec.Labels, Description: spec.Description}
}

func isNotFound(err error) bool {
	var answer *statusError
	return errors.As(err, &answer) && answer.notFound()
}
