package chatgpt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// memories is the whole list in one answer.
func (a *api) memories(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
	rows, _, err := a.list(ctx, "memories", url.Values{"include_memory_entries": {"true"}}, "memories", "items")
	return things(v, rows, "", memory), err
}

// gpts reads a page of the person's own GPTs.
func (a *api) gpts(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
	query := url.Values{"limit": {"100"}}
	if v.Token != "" {
		query.Set("cursor", v.Token)
	}
	rows, next, err := a.list(ctx, "gizmos/mine", query, "items", "gizmos", "cuts")
	return things(v, rows, next, gpt), err
}

// shares reads a page of shared conversations. The list ends with an empty page: what it
// announces as its length is not true, and a short page may be the site's choice.
func (a *api) shares(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
	offset, _ := strconv.Atoi(v.Token) // none is the first
	query := url.Values{"offset": {strconv.Itoa(offset)}, "limit": {strconv.Itoa(listLimit)}, "order": {"created"}}
	rows, _, err := a.list(ctx, "shared_conversations", query, "items")
	next := ""
	if len(rows) > 0 {
		next = strconv.Itoa(offset + len(rows))
	}
	return things(v, rows, next, share), err
}

// things reads the rows of a page. The site cannot be asked whether a page changed, so that
// its version is a digest of what it says.
func things(v connectorkit.PageRequest, rows []jsontext.Value, next string, read func(jsontext.Value) (string,
	connectorkit.Record)) connectorkit.InventoryPage {
	digest := sha256.New()
	for _, raw := range rows {
		digest.Write(raw)
		digest.Write([]byte{0})
	}
	digest.Write([]byte(next))
	page := connectorkit.InventoryPage{Next: next, Version: hex.EncodeToString(digest.Sum(nil)[:12])}
	if page.Version == v.Version {
		page.Unchanged = true
		return page
	}
	for _, raw := range rows {
		key, rec := read(raw)
		page.Things = append(page.Things, connectorkit.ListItem{Key: key, Record: rec})
	}
	return page
}

// instructions are one object, which is there even when nothing was ever written.
func (a *api) instructions(ctx context.Context, _ connectorkit.Cursor) (connectorkit.Page, error) {
	resp, err := a.do(ctx, a.lists, governhttp.Request{Path: "user_system_messages"})
	if err != nil {
		return connectorkit.Page{}, err
	}
	var w struct {
		About   jsontext.Value `json:"about_user_message"`
		Style   jsontext.Value `json:"about_model_message"`
		Enabled *bool          `json:"enabled"`
		Updated moment         `json:"updated_at"`
	}
	if err := decode(resp.Body, &w); err != nil {
		return connectorkit.Page{}, connectorkit.Fail(connectorkit.Malformed, err)
	}
	if len(w.About) == 0 && len(w.Style) == 0 && w.Enabled == nil {
		return connectorkit.Page{}, connectorkit.Fail(connectorkit.Malformed, errFrame)
	}
	rec := instructionsRecord{ID: streamInstructions, Enabled: w.Enabled, UpdatedAt: w.Updated.text()}
	_ = decode(w.About, &rec.About) // null is nothing
	_ = decode(w.Style, &rec.Style)
	rec.About, rec.Style = clean(rec.About), clean(rec.Style)
	return connectorkit.Page{Records: []connectorkit.Record{connectorkit.Upsert(rec)}, Next: connectorkit.Cursor{"read": "once"}}, nil
}

type instructionsRecord struct {
	ID        string  `json:"id"`
	About     *string `json:"about_user"`
	Style     *string `json:"response_style"`
	Enabled   *bool   `json:"enabled"`
	UpdatedAt *string `json:"updated_at"`
}

func memory(raw jsontext.Value) (string, connectorkit.Record) {
	var w struct {
		ID      string  `json:"id"`
		Content *string `json:"content"`
		Created moment  `json:"created_at"`
		Updated moment  `json:"updated_at"`
	}
	if err := decode(raw, &w); err != nil || w.ID == "" || w.Content == nil {
		return "", connectorkit.Unreadable(valid(w.ID), err)
	}
	return valid(w.ID), connectorkit.Upsert(map[string]any{
		"id": valid(w.ID), "content": valid(*w.Content), "created_at": w.Created.text(), "updated_at": w.Updated.text(),
	})
}

// wireGPT is an own GPT; it may stand below resource.gizmo or gizmo.
type wireGPT struct {
	ID           string           `json:"id"`
	ShortURL     *string          `json:"short_url"`
	Instructions *string          `json:"instructions"`
	Tools        []jsontext.Value `json:"tools"`
	Created      moment           `json:"created_at"`
	Updated      moment           `json:"updated_at"`
	Tags         []string         `json:"tags"`
	Recipient    *string          `json:"share_recipient"`
	Author       struct {
		ID   *string `json:"user_id"`
		Name *string `json:"display_name"`
	} `json:"author"`
	Display struct {
		Name        *string  `json:"name"`
		Description *string  `json:"description"`
		Welcome     *string  `json:"welcome_message"`
		Categories  []string `json:"categories"`
	} `json:"display"`
}

type gptRecord struct {
	ID           string           `json:"id"`
	ShortURL     *string          `json:"short_url"`
	Name         *string          `json:"display_name"`
	Description  *string          `json:"display_description"`
	Welcome      *string          `json:"display_welcome_message"`
	Instructions *string          `json:"instructions"`
	Tools        []jsontext.Value `json:"tools"`
	CreatedAt    *string          `json:"created_at"`
	UpdatedAt    *string          `json:"updated_at"`
	AuthorID     *string          `json:"author_id"`
	AuthorName   *string          `json:"author_name"`
	Public       *bool            `json:"is_public"`
	Category     *string          `json:"category"`
	Tags         []string         `json:"tags"`
}

func gpt(raw jsontext.Value) (string, connectorkit.Record) {
	inner, tools := raw, jsontext.Value(nil)
	for range 3 {
		var nest struct {
			Resource jsontext.Value `json:"resource"`
			Gizmo    jsontext.Value `json:"gizmo"`
			Tools    jsontext.Value `json:"tools"`
		}
		if decode(inner, &nest) != nil {
			break
		}
		if nest.Tools.Kind() == '[' {
			tools = nest.Tools
		}
		switch {
		case nest.Resource.Kind() == '{':
			inner = nest.Resource
		case nest.Gizmo.Kind() == '{':
			inner = nest.Gizmo
		}
	}
	var w wireGPT
	if err := decode(inner, &w); err != nil || w.ID == "" {
		return "", connectorkit.Unreadable(valid(w.ID), err)
	}
	rec := gptRecord{
		ID: valid(w.ID), ShortURL: clean(w.ShortURL), Name: clean(w.Display.Name), Description: clean(w.Display.Description), Welcome: clean(w.Display.Welcome),
		Instructions: clean(w.Instructions), Tools: []jsontext.Value{}, CreatedAt: w.Created.text(), UpdatedAt: w.Updated.text(),
		AuthorID: clean(w.Author.ID), AuthorName: clean(w.Author.Name), Tags: []string{},
	}
	if w.Recipient != nil {
		public := *w.Recipient == "marketplace" || *w.Recipient == "link"
		rec.Public = &public
	}
	if len(w.Display.Categories) > 0 {
		rec.Category = some(w.Display.Categories[0])
	}
	for _, tag := range w.Tags {
		rec.Tags = append(rec.Tags, valid(tag))
	}
	if w.Tools == nil && tools != nil {
		_ = decode(tools, &w.Tools) // it is a list
	}
	for _, tool := range w.Tools {
		rec.Tools = append(rec.Tools, canonical(tool))
	}
	return rec.ID, connectorkit.Upsert(rec)
}
