package routes

import (
	"context"
	"net/http"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

type renameBody struct {
	DisplayName string `json:"display_name"`
}

type credentialBody struct {
	Fields map[string]string `json:"fields"`
}

type acknowledgeBody struct {
	ActionKind string `json:"action_kind"`
}

func (s *surface) connecting() []reply.Route {
	return []reply.Route{
		s.get("GET /_ref/connector-templates", func(r *http.Request) (any, error) {
			return listOf(s.owner.Connectors(r.Context()))
		}),
		take(s, "POST /_ref/connections", http.StatusCreated, func(r *http.Request, c api.Connect) (any, error) {
			return s.owner.Connect(r.Context(), c)
		}),
		put(s, "PATCH /_ref/connections/{id}", func(r *http.Request, b renameBody) error {
			return s.owner.Rename(r.Context(), id(r), b.DisplayName)
		}),
		put(s, "PUT /_ref/connections/{id}/credential", func(r *http.Request, b credentialBody) error {
			return s.owner.SetCredential(r.Context(), id(r), b.Fields)
		}),
		take(s, "POST /_ref/connections/{id}/sign-in", http.StatusCreated, func(r *http.Request, w api.SignInWish) (any, error) {
			return s.owner.BeginSignIn(r.Context(), id(r), w)
		}),
		take(s, "POST /_ref/sign-ins/answer", http.StatusOK, func(r *http.Request, a api.SignInAnswer) (any, error) {
			return s.owner.FinishSignIn(r.Context(), a)
		}),
		put(s, "PUT /_ref/connector-templates/{id}/app", func(r *http.Request, app api.ProviderApp) error {
			return s.owner.SetProviderApp(r.Context(), id(r), app)
		}),
		s.act("DELETE /_ref/connections/{id}/credential", func(r *http.Request) error {
			return s.owner.RemoveCredential(r.Context(), id(r))
		}),
		put(s, "PUT /_ref/connections/{id}/limits", func(r *http.Request, l api.Limits) error {
			return s.owner.SetLimits(r.Context(), id(r), l)
		}),
		put(s, "PUT /_ref/connections/{id}/selection", func(r *http.Request, sel api.Selection) error {
			return s.owner.SetSelection(r.Context(), id(r), sel)
		}),
		take(s, "POST /_ref/connections/{id}/collect", http.StatusAccepted, func(r *http.Request, sel api.Selection) (any, error) {
			err := s.owner.Collect(r.Context(), id(r), sel)
			return accepted{Object: "run_request", ConnectionID: id(r), Status: "accepted"}, err
		}),
		s.answer("POST /_ref/connections/{id}/cancel", http.StatusAccepted, func(r *http.Request) (any, error) {
			return s.owner.Stop(r.Context(), id(r))
		}),
		s.act("POST /_ref/connections/{id}/revoke", func(r *http.Request) error {
			return s.owner.Revoke(r.Context(), id(r))
		}),
		put(s, "POST /_ref/connections/{id}/acknowledge", func(r *http.Request, b acknowledgeBody) error {
			return s.owner.Acknowledge(r.Context(), id(r), b.ActionKind)
		}),
		s.run(),
	}
}

// runBody is what a request for a run may say; it may be left out.
type runBody struct {
	AskAnyway    bool `json:"ask_anyway"`
	RecoveryOnly bool `json:"recovery_only"`
}

func (s *surface) run() reply.Route {
	return reply.Route{Pattern: "POST /_ref/connections/{id}/run", Handle: func(w http.ResponseWriter, r *http.Request) {
		var body runBody
		if r.ContentLength != 0 && !reply.Read(w, r, &body) {
			return
		}
		ask := s.owner.Run
		if body.AskAnyway {
			ask = s.owner.RunAnyway
		}
		if body.RecoveryOnly {
			ask = func(ctx context.Context, id string) error { return s.owner.RunRecovery(ctx, id, body.AskAnyway) }
		}
		if err := ask(r.Context(), id(r)); err != nil {
			s.fail(w, r, err)
			return
		}
		reply.JSON(w, http.StatusAccepted, accepted{Object: "run_request", ConnectionID: id(r), Status: "accepted"})
	}}
}
