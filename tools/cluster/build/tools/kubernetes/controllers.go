package main

import (
	"context"
	"time"

	core "k8s.io/api/core/v1"
	apiextensionsscheme "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/scheme"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/nodelifecycle"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	serviceaccounts "k8s.io/kubernetes/pkg/controller/serviceaccount"
	"k8s.io/kubernetes/pkg/controller/tainteviction"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
	"k8s.io/kubernetes/pkg/controller/validatingadmissionpolicystatus"
	"k8s.io/kubernetes/pkg/generated/openapi"
	"k8s.io/kubernetes/pkg/serviceaccount"
)

const endpointsInSlice = 100

type loop = func(context.Context)

// The controllers, each made as cmd/kube-controller-manager makes it.
var controllers = map[string]func(context.Context, *cluster) (loop, error){
	"serviceaccount-token":             serviceAccountTokens,
	"serviceaccount":                   serviceAccounts,
	"root-ca-certificate-publisher":    rootCAs,
	"namespace":                        namespaces,
	"garbage-collector":                garbage,
	"clusterrole-aggregation":          clusterRoles,
	"deployment":                       deployments,
	"replicaset":                       replicaSets,
	"job":                              jobs,
	"ttl-after-finished":               finishedJobs,
	"disruption":                       disruptions,
	"endpointslice":                    endpointSlices,
	"node-lifecycle":                   nodes,
	"taint-eviction":                   taints,
	"validatingadmissionpolicy-status": admissionPolicies,
}

func serviceAccountTokens(ctx context.Context, c *cluster) (loop, error) {
	key, err := keyutil.PrivateKeyFromFile(c.privateKey)
	if err != nil {
		return nil, err
	}
	generator, err := serviceaccount.JWTTokenGenerator(serviceaccount.LegacyIssuer, key)
	if err != nil {
		return nil, err
	}
	informers := c.informers.Core().V1()
	tokens, err := serviceaccounts.NewTokensController(
		klog.FromContext(ctx), informers.ServiceAccounts(), informers.Secrets(), c.client("tokens-controller"),
		serviceaccounts.TokensControllerOptions{TokenGenerator: generator, RootCA: c.rootCA},
	)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { tokens.Run(ctx, workers) }, nil
}

func serviceAccounts(ctx context.Context, c *cluster) (loop, error) {
	informers := c.informers.Core().V1()
	accounts, err := serviceaccounts.NewServiceAccountsController(
		klog.FromContext(ctx), informers.ServiceAccounts(), informers.Namespaces(), c.client("service-account-controller"),
		serviceaccounts.DefaultServiceAccountsControllerOptions(),
	)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { accounts.Run(ctx, 1) }, nil
}

func rootCAs(_ context.Context, c *cluster) (loop, error) {
	informers := c.informers.Core().V1()
	publisher, err := rootcacertpublisher.NewPublisher(
		informers.ConfigMaps(), informers.Namespaces(), c.client("root-ca-cert-publisher"), c.rootCA)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { publisher.Run(ctx, 1) }, nil
}

// It asks for all kinds of a namespace, so its limits are wider, as in kube-controller-manager.
func namespaces(ctx context.Context, c *cluster) (loop, error) {
	wide := *c
	wide.config = rest.CopyConfig(c.config)
	wide.config.QPS *= 20
	wide.config.Burst *= 100
	client := wide.client("namespace-controller")
	controller := namespace.NewNamespaceController(
		ctx, client, metadata.NewForConfigOrDie(wide.config), client.Discovery().ServerPreferredNamespacedResources,
		c.informers.Core().V1().Namespaces(), namespaceResync, core.FinalizerKubernetes,
	)
	return func(ctx context.Context) { controller.Run(ctx, 10) }, nil
}

func garbage(ctx context.Context, c *cluster) (loop, error) {
	client := c.client("generic-garbage-collector")
	collector, err := garbagecollector.NewComposedGarbageCollector(
		ctx, client, metadata.NewForConfigOrDie(c.config), c.mapper, c.graph)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) {
		go collector.Sync(ctx, client.Discovery(), refresh)
		collector.Run(ctx, 20, refresh)
	}, nil
}

func clusterRoles(_ context.Context, c *cluster) (loop, error) {
	roles := clusterroleaggregation.NewClusterRoleAggregation(
		c.informers.Rbac().V1().ClusterRoles(), c.client("clusterrole-aggregation-controller").RbacV1())
	return func(ctx context.Context) { roles.Run(ctx, workers) }, nil
}

func deployments(ctx context.Context, c *cluster) (loop, error) {
	apps := c.informers.Apps().V1()
	controller, err := deployment.NewDeploymentController(
		ctx, apps.Deployments(), apps.ReplicaSets(), c.informers.Core().V1().Pods(), c.client("deployment-controller"))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { controller.Run(ctx, workers) }, nil
}

func replicaSets(ctx context.Context, c *cluster) (loop, error) {
	controller := replicaset.NewReplicaSetController(
		ctx, c.informers.Apps().V1().ReplicaSets(), c.informers.Core().V1().Pods(),
		c.client("replicaset-controller"), replicaset.BurstReplicas)
	return func(ctx context.Context) { controller.Run(ctx, workers) }, nil
}

func jobs(ctx context.Context, c *cluster) (loop, error) {
	controller, err := job.NewController(
		ctx, c.informers.Core().V1().Pods(), c.informers.Batch().V1().Jobs(), c.client("job-controller"))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { controller.Run(ctx, workers) }, nil
}

func finishedJobs(ctx context.Context, c *cluster) (loop, error) {
	controller := ttlafterfinished.New(ctx, c.informers.Batch().V1().Jobs(), c.client("ttl-after-finished-controller"))
	return func(ctx context.Context) { controller.Run(ctx, workers) }, nil
}

func disruptions(ctx context.Context, c *cluster) (loop, error) {
	client := c.client("disruption-controller")
	scales, err := scale.NewForConfig(
		c.config, c.mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client.Discovery()))
	if err != nil {
		return nil, err
	}
	apps, informers := c.informers.Apps().V1(), c.informers.Core().V1()
	controller := disruption.NewDisruptionController(
		ctx, informers.Pods(), c.informers.Policy().V1().PodDisruptionBudgets(), informers.ReplicationControllers(),
		apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(), client, c.mapper, scales, client.Discovery())
	return controller.Run, nil
}

func endpointSlices(ctx context.Context, c *cluster) (loop, error) {
	informers := c.informers.Core().V1()
	controller := endpointslice.NewController(
		ctx, informers.Pods(), informers.Services(), informers.Nodes(), c.informers.Discovery().V1().EndpointSlices(),
		endpointsInSlice, c.client("endpointslice-controller"), 0)
	return func(ctx context.Context) { controller.Run(ctx, workers) }, nil
}

// Without it no pod is scheduled on a real node: the API server taints each as not ready, and this takes the taint away.
func nodes(ctx context.Context, c *cluster) (loop, error) {
	informers := c.informers.Core().V1()
	controller, err := nodelifecycle.NewNodeLifecycleController(
		ctx, c.informers.Coordination().V1().Leases(), informers.Pods(), informers.Nodes(),
		c.informers.Apps().V1().DaemonSets(), c.client("node-controller"),
		5*time.Second, 60*time.Second, 50*time.Second, 0.1, 0.01, 50, 0.55)
	if err != nil {
		return nil, err
	}
	return controller.Run, nil
}

func taints(ctx context.Context, c *cluster) (loop, error) {
	informers := c.informers.Core().V1()
	controller, err := tainteviction.New(
		ctx, c.client("node-controller"), informers.Pods(), informers.Nodes(), "taint-eviction-controller")
	if err != nil {
		return nil, err
	}
	return controller.Run, nil
}

// Writes into the status of a policy whether the types of its expressions are right.
func admissionPolicies(_ context.Context, c *cluster) (loop, error) {
	client := c.client("validatingadmissionpolicy-status-controller")
	schemas := resolver.NewDefinitionsSchemaResolver(
		openapi.GetOpenAPIDefinitions, scheme.Scheme, apiextensionsscheme.Scheme,
	).Combine(&resolver.ClientDiscoveryResolver{Discovery: client.Discovery()})
	controller, err := validatingadmissionpolicystatus.NewController(
		c.informers.Admissionregistration().V1().ValidatingAdmissionPolicies(),
		client.AdmissionregistrationV1().ValidatingAdmissionPolicies(),
		&validating.TypeChecker{SchemaResolver: schemas, RestMapper: c.mapper},
	)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { controller.Run(ctx, workers) }, nil
}
