package routes

import (
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// pushConfig is what a browser needs to subscribe.
type pushConfig struct {
	Enabled   bool   `json:"enabled"`
	PublicKey string `json:"public_key"`
}

type auditRetention struct {
	Days int `json:"days"`
}

type quietHours struct {
	Window string `json:"window"`
}

func (s *surface) keeping() []reply.Route {
	return []reply.Route{
		s.get("GET /_ref/web-push/config", func(r *http.Request) (any, error) {
			rt, err := s.owner.Runtime(r.Context())
			return pushConfig{Enabled: rt.VAPIDKey != "", PublicKey: rt.VAPIDKey}, err
		}),
		s.get("GET /_ref/web-push/subscriptions", func(r *http.Request) (any, error) {
			return listOf(s.owner.PushTargets(r.Context()))
		}),
		take(s, "POST /_ref/web-push/subscriptions", http.StatusCreated, func(r *http.Request, t api.NewPushTarget) (any, error) {
			return s.owner.AddPushTarget(r.Context(), t)
		}),
		s.act("DELETE /_ref/web-push/subscriptions/{id}", func(r *http.Request) error {
			return s.owner.DeletePushTarget(r.Context(), id(r))
		}),
		take(s, "POST /_ref/web-push/test", http.StatusOK, func(r *http.Request, t api.PushTestRequest) (any, error) {
			return listOf(s.owner.TestPush(r.Context(), t.Target))
		}),
		s.get("GET /_ref/quiet-hours", func(r *http.Request) (any, error) {
			window, err := s.owner.QuietHours(r.Context())
			return quietHours{window}, err
		}),
		put(s, "PUT /_ref/quiet-hours", func(r *http.Request, q quietHours) error {
			return s.owner.SetQuietHours(r.Context(), q.Window)
		}),
		s.get("GET /_ref/audit", s.audit),
		put(s, "PUT /_ref/audit/retention", func(r *http.Request, k auditRetention) error {
			return s.owner.SetAuditRetention(r.Context(), k.Days)
		}),
		s.get("GET /_ref/runtime", func(r *http.Request) (any, error) {
			return s.owner.Runtime(r.Context())
		}),
	}
}

func (s *surface) audit(r *http.Request) (any, error) {
	q, err := queryOf(r, "kind", "since", "before", "limit")
	if err != nil {
		return nil, err
	}
	asked := api.AuditQuery{Kind: q.Get("kind")}
	if asked.Limit, err = limit(q); err != nil {
		return nil, err
	}
	if asked.Before, err = number(q, "before"); err != nil {
		return nil, err
	}
	if text := q.Get("since"); text != "" {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil, api.Invalid("since", "That is not a time.", "Write it like 2026-03-04T05:06:07Z.")
		}
		asked.Since = &at
	}
	return s.owner.Audit(r.Context(), asked)
}
