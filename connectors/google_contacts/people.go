package googlecontacts

import (
	"context"
	"errors"
	"net/url"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/googleapi"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

const (
	savedFields = "addresses,biographies,birthdays,calendarUrls,clientData,emailAddresses,events,externalIds,fileAses,genders,imClients,interests,locales,locations,memberships,metadata,miscKeywords,names," +
		"nicknames,occupations,organizations,phoneNumbers,photos,relations,sipAddresses,skills,urls,userDefined"
	otherFields = "emailAddresses,metadata,names,phoneNumbers"
	// pageSize is the largest page that Google serves.
	pageSize = "1000"
)

// errFrame is an answer that decodes but is not what it should be. To read it as an empty list would be
// to call data complete that is not there.
var errFrame = errors.New("the answer has not the list that was asked for")

// api makes requests. None of its methods waits or retries.
type api struct {
	client *governhttp.Client
	draw   func(ctx context.Context, account string) error // says whose allowance it is
	me     string                                          // who is signed in; empty where Google does not tell
	asked  bool
}

func (a *api) get(ctx context.Context, path string, q url.Values, into any) error {
	resp, err := a.client.Do(ctx, governhttp.Request{Path: path, Query: q})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(resp.Body, into); err != nil {
		return connectorkit.Fail(connectorkit.Malformed, err)
	}
	return nil
}

// account is who is signed in, asked for once in a run. What another person does not have says nothing about this
// one. Google may keep it to itself: the sign-in asks for contacts alone, and not for who the person is.
func (a *api) account(ctx context.Context) (string, error) {
	if a.asked {
		return a.me, nil
	}
	var wire struct {
		Name string `json:"resourceName"`
	}
	err := a.get(ctx, "people/me", url.Values{"personFields": {"metadata"}}, &wire)
	var refused *connectorkit.Error
	if errors.As(err, &refused) && refused.Class == connectorkit.Forbidden && refused.OwnerMessage == "" {
		err = nil
	}
	if err == nil {
		err = a.draw(ctx, wire.Name)
	}
	if err != nil {
		return "", err
	}
	a.me, a.asked = wire.Name, true
	return a.me, nil
}

// list is a list of people, with the parameter that names the fields of each.
type list struct{ path, member, mask, fields string }

func (a *api) people(stream string, l list) connectorkit.Collector {
	return googleapi.Lists{
		Names: func(ctx context.Context) ([]string, string, error) {
			me, err := a.account(ctx)
			return []string{l.member}, me, err
		},
		Page: func(ctx context.Context, ask googleapi.Ask) (googleapi.Answer, error) { return a.page(ctx, l, ask) },
		Key:  func(_, id string) string { return id },
	}.Flat(stream)
}

// page reads a page. Google wants all of it to be asked for as the token was.
func (a *api) page(ctx context.Context, l list, ask googleapi.Ask) (googleapi.Answer, error) {
	q := url.Values{l.mask: {l.fields}, "pageSize": {pageSize}, "requestSyncToken": {"true"}}
	if ask.Since != "" {
		q.Set("syncToken", ask.Since)
	}
	if ask.Page != "" {
		q.Set("pageToken", ask.Page)
	}
	var wire map[string]jsontext.Value
	if err := a.get(ctx, l.path, q, &wire); err != nil {
		return googleapi.Answer{}, err
	}
	var rows []jsontext.Value
	var total int
	for _, name := range []string{"totalPeople", "totalItems", "totalSize"} {
		if raw := wire[name]; raw.Kind() == '0' && json.Unmarshal(raw, &total) == nil {
			break
		}
	}
	out := googleapi.Answer{Total: total, Next: text(wire["nextPageToken"]), Since: text(wire["nextSyncToken"])}
	switch raw := wire[l.member]; {
	case raw == nil && (out.Next != "" || out.Since != ""): // Google leaves an empty list out
	case raw.Kind() != '[' || json.Unmarshal(raw, &rows) != nil:
		return googleapi.Answer{}, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	for _, raw := range rows {
		out.Things = append(out.Things, readPerson(raw))
	}
	return out, nil
}

// text is a member that is a text; empty when it is none.
func text(raw jsontext.Value) (s string) {
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
