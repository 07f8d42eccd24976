package oura

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

type answer struct {
	status int
	value  any
}

func refuse(status int, detail string) answer {
	return answer{status, object{"status": status, "title": http.StatusText(status), "detail": detail}}
}

// faultBody is how Oura words what a fault of the gate makes it say.
func faultBody(code string) []byte {
	switch code {
	case "rate_limited":
		return providersim.EncodeJSON(object{"detail": "Request Rate Limit Exceeded."})
	case "token_expired":
		return providersim.EncodeJSON(refuse(401, "Access token not provided or is invalid.").value)
	}
	return providersim.EncodeJSON(object{"detail": "Internal error."})
}

func (o *Oura) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/usercollection/personal_info", o.handle(ScopePersonal, func(*http.Request) answer {
		return answer{200, person}
	}))
	mux.HandleFunc("GET /v2/usercollection/{collection}", o.handle(ScopeDaily, o.list))
	mux.HandleFunc("/", o.handle("", func(*http.Request) answer { return refuse(404, "Not found.") }))
	return mux
}

func (o *Oura) handle(scope string, serve func(*http.Request) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		defer o.mu.Unlock()
		var a answer
		switch state := o.Tokens.Check(r.Header.Get("Authorization"), scope); {
		case state == providersim.TokenUnderScoped:
			a = refuse(403, "The token has not the scope.")
		case state != providersim.TokenActive:
			a = refuse(401, "Access token not provided or is invalid.")
		case r.Header.Get("User-Agent") == "":
			a = refuse(400, "User-Agent is missing.")
		case o.outdated:
			a = refuse(426, "The minimum mobile app version for this user has not been met; update required")
		default:
			a = serve(r)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(a.status)
		_, _ = w.Write(providersim.EncodeJSON(a.value))
	}
}

// place is what a next_token holds.
type place struct {
	Collection, Start, End string
	At                     int
}

func day(q url.Values, name string, standard time.Time) (time.Time, bool) {
	if !q.Has(name) {
		return standard, true
	}
	t, err := time.Parse(time.DateOnly, q.Get(name))
	return t, err == nil
}

func (o *Oura) list(r *http.Request) answer {
	q, collection := r.URL.Query(), r.PathValue("collection")
	if streams[collection] == "" {
		return refuse(404, "Not found.")
	}
	end, ends := day(q, "end_date", o.today())
	start, starts := day(q, "start_date", end.AddDate(0, 0, -1))
	if !starts || !ends || start.After(end) || end.Sub(start) > 366*24*time.Hour {
		return answer{422, object{"detail": []object{{"loc": []string{"query", "start_date"}, "msg": "invalid dates", "type": "value_error"}}}}
	}
	here := place{collection, start.Format(time.DateOnly), end.Format(time.DateOnly), 0}
	if token := q.Get("next_token"); token != "" {
		var p place
		if !o.signer.Open(token, &p) || p.Collection != here.Collection || p.Start != here.Start || p.End != here.End {
			return refuse(400, "The next_token does not belong to these dates.")
		}
		here = p
	}
	var all []*document
	for _, d := range o.all[collection] {
		last := !d.day.After(end)
		if collection != "daily_readiness" {
			last = d.day.Before(end) // a day without a time is its midnight
		}
		if !d.gone && !d.day.Before(start) && last {
			all = append(all, d)
		}
	}
	slices.SortStableFunc(all, func(a, b *document) int { return a.day.Compare(b.day) })
	fault := providersim.PageFaultFrom(r.Context())
	from := min(here.At, len(all))
	to := min(from+fault.Size(o.cfg.Page), len(all))
	rows := []object{}
	for _, d := range all[from:to] {
		rows = append(rows, d.object(collection))
	}
	next := here
	next.At = from + o.cfg.Page
	out := object{"data": rows, "next_token": nil}
	if token, more := fault.Next(o.signer.Seal(here), o.signer.Seal(next), next.At < len(all)); more {
		out["next_token"] = token
	}
	return answer{200, out}
}
