// Command external-dns is external-dns with one provider (rfc2136) and one registry (txt). It takes the flags of
// external-dns, and reads DNSEndpoints of one namespace. The complete program takes far longer to build: it has the
// clients of all providers, and the package of its sources has those of all ingress controllers.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	log "github.com/sirupsen/logrus"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/external-dns/endpoint"
	"sigs.k8s.io/external-dns/pkg/apis/externaldns"
	"sigs.k8s.io/external-dns/plan"
	"sigs.k8s.io/external-dns/provider"
	"sigs.k8s.io/external-dns/provider/rfc2136"
	"sigs.k8s.io/external-dns/registry"
	"sigs.k8s.io/external-dns/registry/txt"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string) error {
	cfg := externaldns.NewConfig()
	if err := cfg.ParseFlags(args); err != nil {
		return err
	}
	records, err := newSource(cfg)
	if err != nil {
		return err
	}
	filter := endpoint.NewDomainFilter(cfg.DomainFilter)
	dns, err := rfc2136.New(ctx, cfg, filter)
	if err != nil {
		return err
	}
	owned, err := txt.New(cfg, dns)
	if err != nil {
		return err
	}
	for {
		// the next turn tries again, as external-dns does when its pod starts again
		if err := sync(ctx, cfg, records, owned, filter); err != nil {
			log.Error(err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(cfg.Interval):
		}
	}
}

// DNSEndpoints of a namespace.
type dnsEndpoints struct {
	client *http.Client
	url    string
}

func newSource(cfg *externaldns.Config) (*dnsEndpoints, error) {
	cluster, err := clientcmd.BuildConfigFromFlags("", cfg.KubeConfig)
	if err != nil {
		return nil, err
	}
	client, err := rest.HTTPClientFor(cluster)
	if err != nil {
		return nil, err
	}
	url := fmt.Sprintf("%s/apis/externaldns.k8s.io/v1alpha1/namespaces/%s/dnsendpoints", cluster.Host, cfg.Namespace)
	return &dnsEndpoints{client: client, url: url}, nil
}

type list struct {
	Items []struct {
		Metadata struct{ Namespace, Name string }
		Spec     struct{ Endpoints []*endpoint.Endpoint }
	}
}

func (s *dnsEndpoints) read(ctx context.Context) ([]*endpoint.Endpoint, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", s.url, answer.Status)
	}
	var read list
	if err := json.NewDecoder(answer.Body).Decode(&read); err != nil {
		return nil, err
	}
	var all []*endpoint.Endpoint
	for _, item := range read.Items {
		for _, one := range item.Spec.Endpoints {
			all = append(all, one.WithLabel(endpoint.ResourceLabelKey, fmt.Sprintf("crd/%s/%s", item.Metadata.Namespace, item.Metadata.Name)))
		}
	}
	return all, nil
}

// As RunOnce of external-dns's controller, whose package brings all providers.
func sync(ctx context.Context, cfg *externaldns.Config, records *dnsEndpoints, owned registry.Registry, filter *endpoint.DomainFilter) error {
	current, err := owned.Records(ctx)
	if err != nil {
		return err
	}
	ctx = context.WithValue(ctx, provider.RecordsContextKey, current)
	wanted, err := records.read(ctx)
	if err != nil {
		return err
	}
	desired, err := owned.AdjustEndpoints(wanted)
	if err != nil {
		return err
	}
	planned := (&plan.Plan{
		Policies:       []plan.Policy{plan.Policies[cfg.Policy]},
		Current:        current,
		Desired:        desired,
		DomainFilter:   endpoint.MatchAllDomainFilters{filter, owned.GetDomainFilter()},
		ManagedRecords: cfg.ManagedDNSRecordTypes,
		ExcludeRecords: cfg.ExcludeDNSRecordTypes,
		OwnerID:        owned.OwnerID(),
	}).Calculate()
	if !planned.Changes.HasChanges() {
		return nil
	}
	return owned.ApplyChanges(ctx, planned.Changes)
}
