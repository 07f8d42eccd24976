package ynab

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// errFrame is an answer that decodes but is not what it should be. To read it as an empty list would be
// to call data complete that is not there.
var errFrame = errors.New("the answer has not the list that was asked for")

// api makes requests. None of its methods waits or retries.
type api struct {
	client *governhttp.Client
	root   string // of the paths of budgets
	me     string // whose token it is; empty until asked
	today  string // by YNAB's clock, as of the last answer
	ids    []string
	listed bool               // ids are those of all budgets
	kept   map[string]changes // answers that two streams are made of
}

// get requests a path and decodes what the envelope holds.
func (a *api) get(ctx context.Context, path string, q url.Values, into any) error {
	resp, err := a.client.Do(ctx, governhttp.Request{Path: path, Query: q})
	if err != nil {
		return err
	}
	at, err := http.ParseTime(resp.Header.Get("Date")) // which is not misled by a wrong clock here
	if err != nil {
		at = time.Now()
	}
	a.today = at.UTC().Format(time.DateOnly)
	var envelope struct {
		Data jsontext.Value `json:"data"`
	}
	if err := json.Unmarshal(resp.Body, &envelope); err != nil {
		return connectorkit.Fail(connectorkit.Malformed, err)
	}
	if envelope.Data.Kind() != '{' {
		return connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	if err := json.Unmarshal(envelope.Data, into); err != nil {
		return connectorkit.Fail(connectorkit.Malformed, err)
	}
	return nil
}

// account is whose token it is, asked for once in a run. What another person's token does not see says
// nothing about this one's.
func (a *api) account(ctx context.Context) (string, error) {
	if a.me != "" {
		return a.me, nil
	}
	var wire struct {
		User struct {
			ID string `json:"id"`
		} `json:"user"`
	}
	if err := a.get(ctx, "user", nil, &wire); err != nil {
		return "", err
	}
	if wire.User.ID == "" {
		return "", connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	a.me = wire.User.ID
	return a.me, nil
}

// list requests the budgets. YNAB calls them plans now; the older name is still understood.
func (a *api) list(ctx context.Context) ([]jsontext.Value, error) {
	var wire struct {
		Budgets *[]jsontext.Value `json:"budgets"`
		Plans   *[]jsontext.Value `json:"plans"`
	}
	if err := a.get(ctx, a.root, nil, &wire); err != nil {
		return nil, err
	}
	rows := wire.Budgets
	if rows == nil {
		rows = wire.Plans
	}
	if rows == nil {
		return nil, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	a.ids, a.listed = nil, true
	for _, raw := range *rows {
		if id := named(raw); id != "" {
			a.ids = append(a.ids, id)
		}
	}
	return *rows, nil
}

// budgets are the ids of the budgets, asked for once in a run.
func (a *api) budgets(ctx context.Context) ([]string, error) {
	if !a.listed {
		if _, err := a.list(ctx); err != nil {
			return nil, err
		}
	}
	return a.ids, nil
}

// below is the path of something that belongs to a budget.
func (a *api) below(budget string, path string) string {
	return a.root + "/" + url.PathEscape(budget) + "/" + path
}

// changes is what one collection of a budget answers.
type changes struct {
	rows      []jsontext.Value
	knowledge int64
	whole     bool // everything was asked for, although something was known: deletions are not among the rows
}

// since asks for what changed in a collection after a number of YNAB's; zero asks for all. A number that YNAB
// does not know any more, or that is ahead of its own, is given up: all is asked for.
func (a *api) since(ctx context.Context, budget, path, member string, number int64) (changes, error) {
	name := budget + " " + path + " " + strconv.FormatInt(number, 10)
	if got, ok := a.kept[name]; ok {
		return got, nil
	}
	got, err := a.ask(ctx, budget, path, member, number)
	var refused *connectorkit.Error
	if unknown := errors.As(err, &refused) && refused.Status == http.StatusBadRequest; number > 0 && (unknown || err == nil && got.knowledge < number) {
		got, err = a.ask(ctx, budget, path, member, 0)
		got.whole = true
	}
	if err == nil && (path == "categories" || path == "months") {
		a.kept[name] = got
	}
	return got, err
}

func (a *api) ask(ctx context.Context, budget, path, member string, number int64) (changes, error) {
	q := url.Values{}
	if path == transactions {
		q.Set("since_date", earliest)
	}
	if number > 0 {
		q.Set("last_knowledge_of_server", strconv.FormatInt(number, 10))
	}
	var wire map[string]jsontext.Value
	if err := a.get(ctx, a.below(budget, path), q, &wire); err != nil {
		return changes{}, err
	}
	var out changes
	if wire[member].Kind() != '[' || json.Unmarshal(wire[member], &out.rows) != nil || json.Unmarshal(wire["server_knowledge"], &out.knowledge) != nil {
		return changes{}, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	return out, nil
}
