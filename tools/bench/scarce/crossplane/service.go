package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// service is a client of the service's API for one collection.
type service struct {
	http   *http.Client
	url    string
	apiKey string
}

// remote has the members of both collections that the bench sets.
type remote struct {
	ID          string            `json:"id,omitempty"`
	Domain      string            `json:"domain,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Description string            `json:"description,omitempty"`
}

// statusError is an answer that is not a success.
type statusError struct {
	status int
	body   string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the service answered %d: %s", e.status, e.body)
}

func (e *statusError) notFound() bool { return e.status == http.StatusNotFound }

func newHTTPClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 2 * maxReconcileRate
	return &http.Client{Transport: transport, Timeout: 30 * time.Second}
}

func (s *service) create(ctx context.Context, body remote) (remote, error) {
	var made remote
	err := s.send(ctx, http.MethodPost, "", body, &made)
	return made, err
}

func (s *service) get(ctx context.Context, id string) (remote, error) {
	var found remote
	err := s.send(ctx, http.MethodGet, "/"+id, nil, &found)
	return found, err
}

func (s *service) update(ctx context.Context, id string, body any) error {
	return s.send(ctx, http.MethodPatch, "/"+id, body, nil)
}

func (s *service) delete(ctx context.Context, id string) error {
	return s.send(ctx, http.MethodDelete, "/"+id, nil, nil)
}

func (s *service) send(ctx context.Context, method, path string, body, answer any) error {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, s.url+path, content)
	if err != nil {
		return err
	}
	request.Header.Set("authorization", "Bearer "+s.apiKey)
	request.Header.Set("svc-version", "2")
	if body != nil {
		request.Header.Set("content-type", "application/json")
	}
	response, err := s.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		return &statusError{response.StatusCode, string(text)}
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}
