package main

import (
	"context"
	"errors"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

const finalizer = "peer.tunnelgateway.dev/remote"

// The number of objects of a kind that are reconciled at a time.
const workers = 8

// reconciler converges the remotes of one kind.
type reconciler struct {
	client.Client
	service   *service
	newObject func() object
	resync    time.Duration
}

func (r *reconciler) setup(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).
		For(r.newObject(), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(r)
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := r.newObject()
	if err := r.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !object.GetDeletionTimestamp().IsZero() {
		return ctrl.Result{}, r.remove(ctx, object)
	}
	if err := r.ensureFinalizer(ctx, object); err != nil {
		return ctrl.Result{}, err
	}
	id, err := r.converge(ctx, object)
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: r.resync}, r.report(ctx, object, id)
}

func (r *reconciler) ensureFinalizer(ctx context.Context, object object) error {
	before := object.DeepCopyObject().(client.Object)
	if !controllerutil.AddFinalizer(object, finalizer) {
		return nil
	}
	return r.Patch(ctx, object, client.MergeFrom(before))
}

// converge creates the remote, or reads it and changes what differs. Returns its id.
func (r *reconciler) converge(ctx context.Context, object object) (string, error) {
	spec, id := object.resource().Spec, object.resource().Status.ID
	wanted := remote{Domain: spec.Domain, Labels: spec.Labels, Description: spec.Description}
	if id != "" {
		found, err := r.service.get(ctx, id)
		if err == nil {
			return id, r.correct(ctx, found, wanted)
		}
		if !isNotFound(err) {
			return "", err
		}
	}
	made, err := r.service.create(ctx, wanted)
	return made.ID, err
}

func (r *reconciler) correct(ctx context.Context, found, wanted remote) error {
	if found.Description == wanted.Description && maps.Equal(found.Labels, wanted.Labels) {
		return nil
	}
	// The service takes the name of a domain on create only.
	wanted.Domain = ""
	return r.service.update(ctx, found.ID, wanted)
}

func (r *reconciler) report(ctx context.Context, object object, id string) error {
	before := object.DeepCopyObject().(client.Object)
	status, generation := &object.resource().Status, object.GetGeneration()
	changed := meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Available", ObservedGeneration: generation,
		Message: "Exists in the account as specified",
	})
	if !changed && status.ID == id && status.ObservedGeneration == generation {
		return nil
	}
	status.ID, status.ObservedGeneration = id, generation
	return r.Status().Patch(ctx, object, client.MergeFrom(before))
}

func (r *reconciler) remove(ctx context.Context, object object) error {
	if !controllerutil.ContainsFinalizer(object, finalizer) {
		return nil
	}
	if id := object.resource().Status.ID; id != "" {
		if err := r.service.delete(ctx, id); err != nil && !isNotFound(err) {
			return err
		}
	}
	before := object.DeepCopyObject().(client.Object)
	controllerutil.RemoveFinalizer(object, finalizer)
	return client.IgnoreNotFound(r.Patch(ctx, object, client.MergeFrom(before)))
}

func isNotFound(err error) bool {
	var answer *statusError
	return errors.As(err, &answer) && answer.notFound()
}
