// Package chatgpt collects a person's ChatGPT conversations with every branch of their
// messages, memories, own GPTs, instructions and shares. There is no public API for that:
// it asks the site as its own page does, in a browser where the owner signed in, or it reads
// the export that the site sends on request.
//
//	manifest.json    what it declares: streams, schemas, variables, setup
//	chatgpt.go       open: which road, with which lists and details
//	api.go           one call as the page makes it, its token, its pace
//	classify.go      what an answer means
//	list.go          the lists of conversations, merged, while they move
//	account.go       memories, own GPTs, instructions
//	share.go         shares, as site and export have them
//	conversation.go  one conversation as site and export spell it, and its times
//	content.go       the words of a message, whatever kind of content it has
//	map.go           how one thing of ChatGPT's becomes one record
//	export.go        the export: zip or folder, both layouts, by streaming
//	leftout.go       what an export holds and is not collected
package chatgpt

import (
	"context"
	_ "embed"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/browser"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the ChatGPT connector.
func Connector() connectorkit.Connector {
	return connectorkit.MustNew(manifestJSON, newCollectors)
}

const (
	streamConversations = "conversations"
	streamMessages      = "messages"
	streamMemories      = "memories"
	streamGPTs          = "custom_gpts"
	streamInstructions  = "custom_instructions"
	streamShares        = "shared_conversations"
)

// newCollectors chooses the data source. With an export and no session it reads the export only. After that, a run
// with the owner present asks them to sign in as well; without a sign-in the export remains. With both, conversations
// that the export has in their current version are not requested.
func newCollectors(ctx context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	var file *exportIndex
	if path := s.Env("PDPP_CHATGPT_EXPORT_PATH"); path != "" {
		var err error
		if file, err = openExport(ctx, s, path); err != nil {
			return nil, err
		}
		s.AtEnd(file.closeFiles)
	}
	alone := s.Transport() == nil && !signedInBefore(s) && file != nil
	switch {
	case alone && !(s.HasBookmark(streamConversations) && ownerCanSignIn(s)):
		return file.collectors(), nil
	case s.Transport() == nil && !hasBinding(s, "browser"):
		return nil, connectorkit.EndRun("chatgpt_session_required",
			"sign in to ChatGPT, or set PDPP_CHATGPT_EXPORT_PATH to a data export of it", protocol.RefreshCredentials, false)
	}
	a, err := connectToSite(ctx, s)
	if err != nil && alone && ctx.Err() == nil {
		s.Log.Warn("signed out: the export is read again", "cause", err)
		return file.collectors(), nil
	}
	if err != nil {
		return nil, err
	}
	d := conversationDetails{api: a, file: file}
	return []connectorkit.Collector{
		connectorkit.PagedStream{Stream: streamInstructions, Page: a.instructions},
		connectorkit.FullList{Stream: streamMemories, Page: a.memoriesPage},
		connectorkit.FullList{Stream: streamGPTs, Page: a.ownGPTsPage},
		connectorkit.FullList{Stream: streamShares, Page: a.sharedLinksPage},
		connectorkit.ListDetail{
			List: streamConversations, Detail: streamMessages, ListPage: (&conversationLists{api: a}).fetchListPage,
			Fetch: d.fetchConversation, FetchMany: d.fetchConversations, Many: conversationsPerBatch, GoneWithDetail: true,
			Completed: true,
			Census:    7 * 24 * time.Hour,
		},
		accountsOf(file),
	}, nil
}

func hasBinding(s *connectorkit.Setup, binding string) bool {
	_, ok := s.Binding(binding)
	return ok
}

// ownerCanSignIn reports whether the owner is there to sign in.
func ownerCanSignIn(s *connectorkit.Setup) bool {
	return hasBinding(s, "browser") && hasBinding(s, "interactive") && (s.Trigger() == "manual" || s.Trigger() == "")
}

// signedInBefore reports whether the run's browser has an account.
func signedInBefore(s *connectorkit.Setup) bool {
	var b protocol.BrowserBinding
	raw, ok := s.Binding("browser")
	return ok && json.Unmarshal(raw, &b) == nil && b.Account != ""
}

// connectToSite signs in, which may need a browser, and returns the client.
func connectToSite(ctx context.Context, s *connectorkit.Setup) (*siteClient, error) {
	base := strings.TrimSuffix(s.Env("PDPP_CHATGPT_BASE_URL"), "/")
	if base == "" {
		base = siteURL
	}
	transport := s.Transport()
	cookie := func(context.Context, string) string { return "" }
	if jar, ok := transport.(interface{ Cookie(name string) string }); ok {
		cookie = func(_ context.Context, name string) string { return jar.Cookie(name) }
	}
	if transport == nil {
		b, err := browser.Open(ctx, s, browser.Site{
			Home: base, SignIn: base + "/auth/login", Cookie: "__Secure-next-auth.session-token*", Probe: probeSession,
			Wall:    isRobotCheck,
			Headers: []string{"Oai-Language", "Oai-Device-Id", "Chatgpt-Account-Id"},
		})
		if err != nil {
			return nil, err
		}
		transport, cookie = b.Transport(), func(ctx context.Context, name string) string { return b.Page().Cookie(ctx, name) }
	}
	return newSiteClient(s, transport, base, cookie)
}

// probeSession asks who is signed in. The workspace is a part of that: another one has other
// conversations.
func probeSession(ctx context.Context, p *browser.Page) (browser.SessionState, error) {
	resp, err := p.Fetch(ctx, governhttp.Request{Path: sessionPath})
	if err != nil {
		return browser.Unknown{}, err
	}
	switch {
	case isRobotCheck(resp):
		return browser.Walled{}, nil
	case resp.Status != http.StatusOK || isHTMLAnswer(resp):
		return browser.Unknown{}, nil
	}
	var session wireSession
	if decodeLenient(resp.Body, &session) != nil {
		return browser.Unknown{}, nil
	}
	if session.User.ID == "" || session.Token == "" {
		return browser.SignedOut{}, nil
	}
	account := session.User.ID
	if w := workspaceOfCookie(p.Cookie(ctx, "_account")); w != "" {
		account += "/" + w
	}
	return browser.Live{Account: account}, nil
}

// conversationDetails are read from the export where it has the conversation as it is now, else from
// the site.
type conversationDetails struct {
	api  *siteClient
	file *exportIndex // nil without one
}

func (d conversationDetails) fetchConversation(ctx context.Context, item connectorkit.Item) ([]connectorkit.Record,
	error) {
	if c := d.exportedConversation(item); c != nil {
		return d.api.conversationRecords(c, item), nil
	}
	return d.api.fetchConversation(ctx, item)
}

func (d conversationDetails) fetchConversations(ctx context.Context, items []connectorkit.Item) ([]connectorkit.Fetched,
	error) {
	var out []connectorkit.Fetched
	var rest []connectorkit.Item
	for _, item := range items {
		if c := d.exportedConversation(item); c != nil {
			out = append(out, connectorkit.Fetched{Key: item.Key, Records: d.api.conversationRecords(c, item)})
		} else {
			rest = append(rest, item)
		}
	}
	if len(rest) == 0 || len(rest) == 1 && len(out) > 0 {
		return out, nil // a single one has a call of its own
	}
	more, err := d.api.fetchConversations(ctx, rest)
	if err != nil && len(out) > 0 {
		return out, nil // the rest is requested one by one, which shows the error of each
	}
	return append(out, more...), err
}

// exportedConversation is the conversation of the export, if it is no older than the listed one, also
// of an item that an earlier run left.
func (d conversationDetails) exportedConversation(item connectorkit.Item) *conversation {
	at := item.Time
	if at.IsZero() {
		at = locatorTime(item.Locator)
	}
	if d.file == nil || at.IsZero() {
		return nil
	}
	i, ok := d.file.byKey[item.Key]
	if !ok || d.file.entries[i].item.Time.Before(at) {
		return nil
	}
	c, err := d.file.conversation(item.Key)
	if err != nil {
		return nil
	}
	return c
}
