package rest

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest/internal/rawjson"
)

// SingleObject reads one object: a profile, settings. Items is its path in the answer.
type SingleObject struct {
	// OfAccount means that the answer to Source.Account has the object. No other request is made.
	OfAccount bool
}

func (o SingleObject) collector(r *Run, s *Stream) (connectorkit.Collector, error) {
	return connectorkit.PagedStream{Stream: s.Name, Page: func(ctx context.Context, _ connectorkit.Cursor) (
		connectorkit.Page, error) {
		account, err := r.Account(ctx)
		if err != nil {
			return connectorkit.Page{}, err
		}
		raw := r.person
		if !o.OfAccount {
			q, err := r.request(ctx, s, Ask{}, nil)
			if err != nil {
				return connectorkit.Page{}, err
			}
			a, err := r.fetchInOrder(ctx, s.Pool, q)
			if rec, ok := s.declared(err); ok {
				return connectorkit.Page{Records: []connectorkit.Record{rec}}, nil
			}
			if err != nil {
				return connectorkit.Page{}, err
			}
			raw = a.Body
		}
		if raw = rawjson.MemberAt(raw, rawjson.SplitPath(s.Items)); raw.Kind() != '{' {
			return connectorkit.Page{}, malformed(errNoList)
		}
		rows, _ := r.rows(s, []jsontext.Value{raw}, Partition{})
		out := connectorkit.Page{}
		for _, row := range rows {
			out.Records = append(out.Records, row.record())
			out.Next = connectorkit.Cursor{"id": row.Key}
			if account != "" {
				out.Next["id"] = account
			}
		}
		return out, nil
	}}, nil
}
