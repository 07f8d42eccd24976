package routes

import (
	"net/http"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// newGrant is a grant with its token, which is shown here and never again.
type newGrant struct {
	Grant api.Grant `json:"grant"`
	Token string    `json:"token"`
}

// decision is the owner's answer to an app. It has to be said, either way.
type decision struct {
	Approve *bool `json:"approve"`
	api.GrantEnd
}

type redirect struct {
	Redirect string `json:"redirect"`
}

func (s *surface) granting() []reply.Route {
	return []reply.Route{
		s.get("GET /_ref/grants", func(r *http.Request) (any, error) {
			return listOf(s.owner.Grants(r.Context()))
		}),
		take(s, "POST /_ref/grants", http.StatusCreated, func(r *http.Request, g api.NewGrant) (any, error) {
			grant, token, err := s.owner.CreateGrant(r.Context(), g)
			return newGrant{grant, token}, err
		}),
		s.get("GET /_ref/grants/{id}", func(r *http.Request) (any, error) {
			return s.owner.Grant(r.Context(), id(r))
		}),
		s.act("POST /_ref/grants/{id}/revoke", func(r *http.Request) error {
			return s.owner.RevokeGrant(r.Context(), id(r))
		}),
		s.get("GET /_ref/approvals/{id}", func(r *http.Request) (any, error) {
			return s.owner.GrantRequest(r.Context(), id(r))
		}),
		take(s, "POST /_ref/approvals/{id}", http.StatusOK, s.decide),
	}
}

func (s *surface) decide(r *http.Request, d decision) (any, error) {
	if d.Approve == nil {
		return nil, api.Invalid("approve", "The answer is missing.", "Send approve as true or false.")
	}
	to, err := s.owner.Decide(r.Context(), id(r), api.Decision{Approve: *d.Approve, GrantEnd: d.GrantEnd})
	return redirect{to}, err
}
