package source

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// errIgnored is the cause of a refusal that the document ignores.
var errIgnored = errors.New("the source file ignores this refusal")

// isIgnored reports whether a document ignores the refusal. The stream is then declared as missing.
func isIgnored(err error) bool { return errors.Is(err, errIgnored) }

// inspect decides what a response means by the handlers of the document. It decides nothing if no filter matches.
func (s *stream) inspect(r *rest.Run, resp *governhttp.Response) (decided bool, err error) {
	return inspectBy(s.Retriever.Requester.ErrorHandler, s.program.stateOf(r), resp)
}

// inspectBy decides what a response means by a handler.
func inspectBy(c document.Component, state *runState, resp *governhttp.Response) (decided bool, err error) {
	for _, handler := range handlersOf(c) {
		if !resp.HasRetryAfter && resp.Status >= 300 {
			readWait(handler.Backoff, state, resp)
		}
		for _, f := range handler.Filters {
			if matched, err := filterMatches(f, state, resp); err != nil || matched {
				if err != nil {
					return true, connectorkit.Fail(connectorkit.Malformed, err)
				}
				return true, meaningOf(f, resp)
			}
		}
	}
	return false, nil
}

func handlersOf(c document.Component) []*document.ErrorHandler {
	switch h := c.(type) {
	case *document.ErrorHandler:
		return []*document.ErrorHandler{h}
	case *document.CompositeHandler:
		var out []*document.ErrorHandler
		for _, inner := range h.Handlers {
			out = append(out, handlersOf(inner)...)
		}
		return out
	}
	return nil
}

// filterMatches reports whether one of the filter's conditions holds.
func filterMatches(f *document.ResponseFilter, state *runState, resp *governhttp.Response) (bool, error) {
	if slices.Contains(f.Codes, resp.Status) {
		return true, nil
	}
	c := state.context(f)
	c.Set(expression.Response, expression.LazyJSON(resp.Body))
	c.Set(expression.Headers, headersValue(resp.Header, f.Predicate))
	if f.Predicate.IsSet() {
		if holds, err := f.Predicate.Bool(c); err != nil || holds {
			return holds, err
		}
	}
	if f.MessageContains.IsSet() {
		text, err := f.MessageContains.Text(c)
		return err == nil && text != "" && strings.Contains(errorText(resp.Body), text), err
	}
	return false, nil
}

// errorMembers are the members in which providers explain an error, the most likely first.
var errorMembers = []string{"message", "messages", "error", "errors", "failures", "failure", "detail", "err",
	"error_message", "msg", "reason", "status_message"}

// errorText returns the provider's explanation in an answer: all of it if it is no JSON, otherwise the texts of the
// members that usually have it. The data of a good answer is no explanation.
func errorText(body jsontext.Value) string {
	v, err := expression.ParseJSON(body)
	if err != nil {
		return string(body)
	}
	return explanation(v)
}

func explanation(v expression.Value) string {
	switch v.Kind() {
	case expression.String:
		return v.Text()
	case expression.Array:
		var texts []string
		for _, item := range v.Items() {
			if text := explanation(item); text != "" {
				texts = append(texts, text)
			}
		}
		return strings.Join(texts, ", ")
	case expression.Object:
		for _, name := range errorMembers {
			if inner := v.Member(name); expression.Truth(inner) {
				return explanation(inner)
			}
		}
	}
	return ""
}

// meaningOf returns the error that the action of a filter means, or nil for a good response.
func meaningOf(f *document.ResponseFilter, resp *governhttp.Response) error {
	e := &connectorkit.Error{Status: resp.Status, RetryAfter: resp.RetryAfter, HasRetryAfter: resp.HasRetryAfter}
	switch f.Action {
	case "SUCCESS":
		return connectorkit.WholeJSON(resp)
	case "IGNORE":
		return errors.Join(errIgnored, &connectorkit.Error{Class: connectorkit.NotFound, Status: resp.Status})
	case "RATE_LIMITED":
		e.Class = connectorkit.RateLimited
		return e
	case "REFRESH_TOKEN_THEN_RETRY":
		e.Class = connectorkit.Unauthorized
		return errors.Join(errRenew, e)
	case "RETRY":
		if e.Class = connectorkit.Unavailable; resp.Status == 429 {
			e.Class = connectorkit.RateLimited
		}
		return e
	}
	switch {
	case resp.Status == 429:
		e.Class = connectorkit.RateLimited
	case resp.Status == 401, resp.Status == 403 && f.FailureType == "config_error":
		e.Class = connectorkit.Unauthorized
	case resp.Status == 403:
		e.Class = connectorkit.Forbidden
	case resp.Status == 404:
		e.Class = connectorkit.NotFound
	case resp.Status == 410:
		e.Class = connectorkit.Gone
	case resp.Status >= 500:
		e.Class = connectorkit.Unavailable
	default:
		e.Class = connectorkit.Malformed
	}
	if f.Message.IsSet() && f.Message.IsFixed() {
		e.OwnerMessage = "The source refuses this request. Its file explains: " + f.Message.Source()
	}
	return e
}

// readWait reads a wait that the provider announces in a header of its own.
func readWait(backoff []document.Component, state *runState, resp *governhttp.Response) {
	for _, c := range backoff {
		var seconds float64
		switch b := c.(type) {
		case *document.WaitHeader:
			seconds = headerNumber(b.Header, b.Regex, state, b, resp)
		case *document.WaitUntilHeader:
			regex, err := templateText(b.Regex, state.context(b))
			if err != nil {
				continue
			}
			if at := headerNumber(b.Header, regex, state, b, resp); at > 0 {
				seconds = at - float64(state.now.Unix())
			}
		}
		if seconds > 0 {
			resp.RetryAfter, resp.HasRetryAfter = time.Duration(seconds*float64(time.Second)), true
			return
		}
	}
}

// headerNumber returns the number in a header, or zero.
func headerNumber(name document.Template, regex string, state *runState, c document.Component,
	resp *governhttp.Response) float64 {
	header, err := templateText(name, state.context(c))
	if err != nil {
		return 0
	}
	text := resp.Header.Get(header)
	if regex != "" {
		pattern, err := regexp.Compile(regex)
		if err != nil {
			return 0
		}
		if text = pattern.FindString(text); text == "" {
			return 0
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || n > (30*24*time.Hour).Seconds()*100_000 {
		return 0
	}
	return n
}
