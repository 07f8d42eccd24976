package routes

import (
	"net/http"
	"reflect"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// withoutMethod returns the routes that no single method of the owner answers.
func (s *surface) withoutMethod() []reply.Route {
	return []reply.Route{
		get(s, "GET /_ref/connectors", s.summaries, reply.Operation{
			Name: "listSummaries", Tag: "connections", Summary: "Connections, page by page",
			Query: reflect.TypeFor[summaryQuery]()}),
		get(s, "GET /_ref/fleet-health", s.fleetHealth, reply.Operation{
			Name: "getFleetHealth", Tag: "connections", Summary: "All connections in one word"}),
		get(s, "GET /v1/owner/connections/{id}/diagnostics", s.diagnostics, reply.Operation{
			Name: "getDiagnostics", Tag: "agents", Summary: "The state of one connection, and why", Access: reply.AccessAgent}),
		get(s, "GET /_ref/device-exporters/source-instances", s.deviceSources, reply.Operation{
			Name: "listDeviceSources", Tag: "connections", Summary: "The sources of all devices"}),
		get(s, "GET /_ref/web-push/config", s.pushConfig, reply.Operation{
			Name: "getPushConfig", Tag: "house", Summary: "What a browser needs to subscribe"}),
		s.enable("pause", false, "Keep the schedule without following it"),
		s.enable("resume", true, "Follow the schedule again"),
	}
}

// get returns the route of an answer that reads.
func get[T any](s *surface, pattern string, answer func(*http.Request) (T, error), o reply.Operation) reply.Route {
	o.Answers = []reply.Answer{{Status: http.StatusOK, Body: reflect.TypeFor[T]()}}
	handle := s.serve(func(w http.ResponseWriter, r *http.Request) error {
		value, err := answer(r)
		if err == nil {
			reply.JSON(w, http.StatusOK, value)
		}
		return err
	})
	return reply.Route{Pattern: pattern, Scope: reply.ScopeRead, Handle: handle, Operation: o}
}

// sourceList lists the sources of all devices.
type sourceList struct {
	Object string             `json:"object" enum:"list"`
	Data   []api.DeviceSource `json:"data"`
}

func (s *surface) deviceSources(r *http.Request) (sourceList, error) {
	all, err := s.owner.Devices(r.Context())
	list := sourceList{Object: "list", Data: []api.DeviceSource{}}
	for _, d := range all {
		list.Data = append(list.Data, d.Sources...)
	}
	return list, err
}

// pushConfig is what a browser needs to subscribe.
type pushConfig struct {
	Enabled   bool   `json:"enabled"`
	PublicKey string `json:"public_key"`
}

func (s *surface) pushConfig(r *http.Request) (pushConfig, error) {
	runtime, err := s.owner.Runtime(r.Context())
	return pushConfig{Enabled: runtime.VAPIDKey != "", PublicKey: runtime.VAPIDKey}, err
}

// enable keeps the schedule and changes whether it is followed.
func (s *surface) enable(word string, enabled bool, summary string) reply.Route {
	return reply.Route{Pattern: "POST /_ref/connections/{id}/schedule/" + word, Scope: reply.ScopeManage,
		Operation: reply.Operation{Name: word + "Schedule", Tag: "connections", Summary: summary,
			Answers: []reply.Answer{{Status: http.StatusNoContent}}},
		Handle: s.serve(func(w http.ResponseWriter, r *http.Request) error {
			d, err := s.owner.Connection(r.Context(), id(r))
			if err != nil {
				return err
			}
			if d.Plan == nil {
				return api.NotFound("This connection has no schedule.", "Set one first.")
			}
			schedule := d.Plan.Schedule
			schedule.Enabled = enabled
			if err := s.owner.SetSchedule(r.Context(), id(r), schedule); err != nil {
				return err
			}
			w.WriteHeader(http.StatusNoContent)
			return nil
		})}
}
