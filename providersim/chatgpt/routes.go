package chatgpt

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/signin"
)

// apiRefusal is an error answer.
type apiRefusal struct {
	status int
	body   any
}

func detailRefusal(status int, message, code string) *apiRefusal {
	return &apiRefusal{status, map[string]any{"detail": map[string]any{"message": message, "type": "invalid_request_error",
		"param": nil, "code": code}}}
}

func refusalBody(code string) []byte {
	switch code {
	case "rate_limited":
		return providersim.EncodeJSON(map[string]string{"detail": "You're making requests too quickly. We have temporarily " +
			"limited access to your conversations."})
	case "token_expired":
		return providersim.EncodeJSON(detailRefusal(0, "Your authentication token has expired. Please try signing in again.",
			code).body)
	}
	return providersim.EncodeJSON(map[string]string{"detail": code})
}

var rateLimitRefusal = &apiRefusal{http.StatusTooManyRequests,
	map[string]string{"detail": "You're making requests too quickly. We have temporarily limited access to your " +
		"conversations."}}

// setVisitorCookies sets the cookies that the site's own page reads: a device id, and the workspace where there is
// one.
func (g *ChatGPT) setVisitorCookies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("oai-did"); err != nil {
			http.SetCookie(w, &http.Cookie{Name: "oai-did", Value: numberedID("device", 1), Path: "/", MaxAge: 1 << 25,
				Secure:   true,
				SameSite: http.SameSiteLaxMode})
		}
		if g.cfg.Workspace != "" {
			if _, err := r.Cookie("_account"); err != nil {
				http.SetCookie(w, &http.Cookie{Name: "_account", Value: g.cfg.Workspace, Path: "/", MaxAge: 1 << 25, Secure: true,
					SameSite: http.SameSiteLaxMode})
			}
		}
		next.ServeHTTP(w, r)
	})
}

type endpointFunc func(r *http.Request, workspace string) (any, *apiRefusal)

func (g *ChatGPT) apiRoutes() *http.ServeMux {
	mux := http.NewServeMux()
	g.site.Routes(mux)
	handle := func(pattern string, serve endpointFunc) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			v, no := g.authorized(r, serve)
			status := http.StatusOK
			if no != nil {
				status, v = no.status, no.body
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write(providersim.EncodeJSON(v))
		})
	}
	handle("GET /backend-api/conversations", g.serveConversations)
	handle("GET /backend-api/gizmos/snorlax/sidebar", g.serveProjects)
	handle("GET /backend-api/gizmos/{id}/conversations", g.serveProject)
	handle("GET /backend-api/conversation/{id}", g.serveDetail)
	handle("POST /backend-api/conversations/batch", g.serveBatch)
	handle("GET /backend-api/memories", g.serveMemories)
	handle("GET /backend-api/user_system_messages", g.serveInstructions)
	handle("GET /backend-api/gizmos/mine", g.serveOwnGPTs)
	handle("GET /backend-api/shared_conversations", g.serveShares)
	return mux
}

func (g *ChatGPT) authorized(r *http.Request, serve endpointFunc) (any, *apiRefusal) {
	_, access := g.site.Authorize(r)
	switch access {
	case signin.Expired:
		return nil, detailRefusal(http.StatusUnauthorized,
			"Your authentication token has expired. Please try signing in again.",
			"token_expired")
	case signin.Malformed, signin.Missing:
		return nil, &apiRefusal{http.StatusUnauthorized,
			map[string]any{"error": map[string]any{"message": "Could not parse your authentication token. Please try signing " +
				"in again.", "code": "invalid_jwt"}}}
	}
	workspace := r.Header.Get("ChatGPT-Account-Id")
	if workspace != "" && workspace != g.cfg.Workspace {
		return nil, detailRefusal(http.StatusForbidden, "You do not have access to this workspace.", "workspace_forbidden")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if did, err := r.Cookie("oai-did"); r.Header.Get("oai-language") == "" || err == nil &&
		r.Header.Get("oai-device-id") != did.Value {
		g.strange++
	}
	return serve(r, workspace)
}

// pagingParameters reads offset and limit.
func (g *ChatGPT) pagingParameters(r *http.Request) (offset, limit int, no *apiRefusal) {
	q := r.URL.Query()
	offset, _ = strconv.Atoi(q.Get("offset"))
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit < 1 {
		limit = 28
	}
	if limit > 100 || offset < 0 {
		return 0, 0, &apiRefusal{http.StatusUnprocessableEntity,
			map[string]any{"detail": []any{map[string]any{"loc": []string{"query", "limit"},
				"msg": "Input should be less than or equal to 100"}}}}
	}
	return offset, limit, nil
}

// pageWindow cuts a page out of n rows. The gate's page faults apply.
func pageWindow(r *http.Request, offset, limit, n int) (from, to int) {
	limit = providersim.PageFaultFrom(r.Context()).Size(limit)
	from = min(offset, n)
	return from, min(from+limit, n)
}

func (g *ChatGPT) serveConversations(r *http.Request, workspace string) (any, *apiRefusal) {
	offset, limit, no := g.pagingParameters(r)
	if no != nil {
		return nil, no
	}
	if g.cfg.Deep > 0 && offset >= g.cfg.Deep && g.deep < g.cfg.DeepFails {
		g.deep++
		return nil, &apiRefusal{http.StatusInternalServerError, map[string]string{"detail": "Internal server error"}}
	}
	archived := r.URL.Query().Get("is_archived") == "true"
	chats := g.listedChats(func(c *simChat) bool {
		return c.workspace == workspace && c.archived == archived && (archived || c.project < 0)
	})
	from, to := pageWindow(r, offset, min(limit, g.cfg.MaxPage), len(chats))
	items := []json.RawMessage{}
	for _, c := range chats[from:to] {
		items = append(items, c.listRow())
	}
	return map[string]any{
		"items": items, "total": len(chats)/2 + 3, "limit": limit, "offset": offset, "has_missing_conversations": false,
	}, nil
}

// listRow is a chat in a list: times are text.
func (c *simChat) listRow() json.RawMessage {
	return providersim.EncodeJSON(map[string]any{
		"id": c.chatID(), "title": textOrNull(c.title), "create_time": formatISOTime(c.created),
		"update_time":  formatISOTime(c.updated),
		"current_node": nil,
		"gizmo_id":     textOrNull(c.projectOrGPT()), "is_archived": c.archived, "is_starred": c.starred,
		"workspace_id": textOrNull(c.workspace),
		"mapping":      nil,
	})
}

const projectsPerPage = 5

func (g *ChatGPT) serveProjects(r *http.Request, _ string) (any, *apiRefusal) {
	from, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Query().Get("cursor"), "p"))
	to := min(from+projectsPerPage, g.cfg.Projects)
	items := []any{}
	for n := from; n < to; n++ {
		items = append(items, map[string]any{"gizmo": map[string]any{"gizmo": map[string]any{
			"id": projectIDAt(n), "display": map[string]string{"name": "Project " + strconv.Itoa(n)},
		}}, "conversations": map[string]any{"items": []any{}}})
	}
	var next any
	if to < g.cfg.Projects {
		next = "p" + strconv.Itoa(to)
	}
	return map[string]any{"items": items, "cursor": next}, nil
}

func (g *ChatGPT) serveProject(r *http.Request, workspace string) (any, *apiRefusal) {
	from, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Query().Get("cursor"), "c"))
	chats := g.listedChats(func(c *simChat) bool {
		return c.workspace == workspace && !c.archived && c.project >= 0 && projectIDAt(c.project) == r.PathValue("id")
	})
	from, to := pageWindow(r, from, min(20, g.cfg.MaxPage), len(chats))
	items := []json.RawMessage{}
	for _, c := range chats[from:to] {
		items = append(items, c.listRow())
	}
	var next any
	if to < len(chats) {
		next = "c" + strconv.Itoa(to)
	}
	return map[string]any{"items": items, "cursor": next}, nil
}

func (g *ChatGPT) findChat(id, workspace string) *simChat {
	for i := range g.chats {
		if c := &g.chats[i]; c.chatID() == id && c.workspace == workspace {
			return c
		}
	}
	return nil
}

func (g *ChatGPT) serveDetail(r *http.Request, workspace string) (any, *apiRefusal) {
	if !g.detail.takeToken(g.cfg.Now()) {
		return nil, rateLimitRefusal
	}
	c := g.findChat(r.PathValue("id"), workspace)
	switch {
	case c == nil:
		return nil, detailRefusal(http.StatusNotFound, "Conversation not found", "conversation_not_found")
	case c.deleted && c.n%2 == 0:
		return nil, detailRefusal(http.StatusNotFound, "Conversation deleted", "conversation_deleted")
	case c.deleted:
		return nil, detailRefusal(http.StatusNotFound, "Conversation not found", "conversation_not_found")
	}
	return c.conversationBody(), nil
}

func (g *ChatGPT) serveBatch(r *http.Request, workspace string) (any, *apiRefusal) {
	if g.cfg.NoBatch != 0 {
		return nil, &apiRefusal{g.cfg.NoBatch, map[string]string{"detail": http.StatusText(g.cfg.NoBatch)}}
	}
	var in struct {
		IDs []string `json:"conversation_ids"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.IDs) > 10 || len(in.IDs) == 0 {
		return nil, &apiRefusal{http.StatusUnprocessableEntity,
			map[string]any{"detail": fmt.Sprintf("List should have at most 10 items, not %d", len(in.IDs))}}
	}
	if !g.batch.takeToken(g.cfg.Now()) {
		return nil, rateLimitRefusal
	}
	out := []json.RawMessage{}
	for _, id := range in.IDs {
		c := g.findChat(id, workspace)
		if c == nil || c.deleted || g.cfg.OmitEvery > 0 && c.n%g.cfg.OmitEvery == 0 {
			continue
		}
		out = append(out, c.conversationBody())
	}
	return out, nil
}

// conversationBody is a chat with its tree: times are seconds.
func (c *simChat) conversationBody() json.RawMessage {
	mapping := map[string]any{}
	for i := range c.nodes {
		mapping[c.nodeIDAt(i)] = c.treeBody(i)
	}
	return providersim.EncodeJSON(map[string]any{
		"conversation_id": c.chatID(), "title": textOrNull(c.title), "create_time": unixSeconds(c.created),
		"update_time":  unixSeconds(c.updated),
		"current_node": c.nodeIDAt(c.current), "is_archived": c.archived, "is_starred": c.starred,
		"gizmo_id":     textOrNull(c.projectOrGPT()),
		"workspace_id": textOrNull(c.workspace), "mapping": mapping,
	})
}

func (c *simChat) treeBody(i int) any {
	n := c.nodes[i]
	children := []string{}
	for j := range c.nodes {
		if c.nodes[j].parent == i {
			children = append(children, c.nodeIDAt(j))
		}
	}
	out := map[string]any{"id": c.nodeIDAt(i), "parent": nil, "children": children, "message": nil}
	if n.parent >= 0 {
		out["parent"] = c.nodeIDAt(n.parent)
	}
	if n.role != "" {
		out["message"] = c.messageBody(i)
	}
	return out
}

func (c *simChat) messageBody(i int) any {
	n := c.nodes[i]
	meta := map[string]any{"citations": []any{}, "attachments": []any{}}
	if n.model != "" {
		meta["model_slug"], meta["finish_details"] = n.model, map[string]string{"type": "stop"}
	}
	if n.cites {
		meta["citations"] = []any{sampleCitation}
	}
	if n.file != "" {
		meta["attachments"] = []any{map[string]string{"id": n.file + "_b", "name": "notes.txt"}}
	}
	to := n.to
	if to == "" {
		to = "all"
	}
	return map[string]any{
		"id": c.nodeIDAt(i), "author": map[string]any{"role": n.role, "name": nil, "metadata": map[string]any{}},
		"create_time": unixSeconds(n.at), "update_time": nil,
		"content": n.contentBody(), "status": "finished_successfully", "end_turn": true, "weight": 1.0, "metadata": meta,
		"recipient": to,
	}
}

var sampleCitation = map[string]any{"start_ix": 3, "end_ix": 9,
	"metadata": map[string]string{"title": "A page", "url": "https://example.org/page"}}

// contentBody is the message in the shape of its kind.
func (n treeNode) contentBody() any {
	out := map[string]any{"content_type": n.kind}
	switch n.kind {
	case "text":
		out["parts"] = []any{n.text}
	case "multimodal_text":
		out["parts"] = []any{map[string]any{"content_type": "image_asset_pointer", "asset_pointer": "sediment://" + n.file,
			"width": 10}, n.text}
	case "code":
		out["language"], out["text"] = "unknown", n.text
	case "execution_output":
		out["text"] = n.text
	case "thoughts":
		out["thoughts"] = []any{map[string]string{"summary": "Thinking", "content": n.text}}
	case "reasoning_recap":
		out["content"] = n.text
	case "tether_quote":
		out["title"], out["text"], out["url"], out["domain"] = "A page", n.text, "https://example.org/page", "example.org"
	case "tether_browsing_display":
		out["result"], out["summary"], out["assets"] = n.text, nil, nil
	case "model_editable_context":
		out["model_set_context"], out["repository"] = n.text, nil
	case "user_editable_context":
		out["user_profile"], out["user_instructions"] = n.text, "Be brief."
	case "system_error":
		out["name"], out["text"] = "tool_error", n.text
	default:
		out["shape"], out["text"], out["depth"] = map[string]int{"w": 3}, n.text, 4
	}
	return out
}

func (g *ChatGPT) serveMemories(*http.Request, string) (any, *apiRefusal) {
	items := []any{}
	for _, m := range g.memories {
		if !m.deleted {
			items = append(items, map[string]any{"id": numberedID("memory", m.n), "content": m.text,
				"created_at": formatISOTime(m.created),
				"updated_at": formatISOTime(m.updated), "status": "warm"})
		}
	}
	return map[string]any{"memories": items, "memory_max_tokens": 5000}, nil
}

func (g *ChatGPT) serveInstructions(*http.Request, string) (any, *apiRefusal) {
	return map[string]any{
		"object": "user_system_message_detail", "enabled": g.custom.enabled,
		"about_user_message": g.custom.about, "about_model_message": g.custom.style,
	}, nil
}

func gptIDAt(n int) string { return "g-" + strings.ReplaceAll(numberedID("own", n), "-", "")[:16] }

func (g *ChatGPT) serveOwnGPTs(r *http.Request, _ string) (any, *apiRefusal) {
	var live []accountThing
	for _, t := range g.gpts {
		if !t.deleted {
			live = append(live, t)
		}
	}
	at, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Query().Get("cursor"), "g"))
	from, to := pageWindow(r, at, min(10, g.cfg.MaxPage), len(live))
	items := []any{}
	for _, t := range live[from:to] {
		items = append(items, map[string]any{"resource": map[string]any{"gizmo": map[string]any{
			"id": gptIDAt(t.n), "short_url": gptIDAt(t.n) + "-helper",
			"author": map[string]string{"user_id": "user-rowan-01", "display_name": "Rowan Ashgrove"},
			"display": map[string]any{
				"name": "Helper " + strconv.Itoa(t.n), "description": t.text, "welcome_message": "Hello",
				"categories": []string{"other"},
			},
			"instructions": "Help with " + t.text, "created_at": formatISOTime(t.created),
			"updated_at":      formatISOTime(t.updated),
			"tags":            []string{"private"},
			"share_recipient": "private",
		}, "tools": []any{map[string]string{"id": "t1", "type": "browser"}}}})
	}
	var next any
	if to < len(live) {
		next = "g" + strconv.Itoa(to)
	}
	return map[string]any{"items": items, "cursor": next}, nil
}

func shareIDAt(n int) string { return numberedID("share", n) }

func (g *ChatGPT) serveShares(r *http.Request, _ string) (any, *apiRefusal) {
	offset, limit, no := g.pagingParameters(r)
	if no != nil {
		return nil, no
	}
	var live []accountThing
	for _, t := range g.shares {
		if !t.deleted {
			live = append(live, t)
		}
	}
	from, to := pageWindow(r, offset, min(limit, g.cfg.MaxPage), len(live))
	items := []any{}
	for _, t := range live[from:to] {
		items = append(items, map[string]any{
			"id": shareIDAt(t.n), "conversation_id": g.chats[t.chat].chatID(), "share_url": "https://chatgpt.com/share/" +
				shareIDAt(t.n), "title": t.text,
			"create_time": formatISOTime(t.created), "is_anonymous": t.n%2 == 0, "is_public": true,
			"highlighted_message_id": nil,
		})
	}
	return map[string]any{"items": items, "total": len(live) + 4, "limit": limit, "offset": offset}, nil
}

// textOrNull is null for nothing.
func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func formatISOTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// unixSeconds are those since 1970 with six digits; null for an unknown time.
func unixSeconds(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return json.RawMessage(fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000))
}
