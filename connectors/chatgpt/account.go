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

// memoriesPage is the whole list in one answer.
func (a *siteClient) memoriesPage(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
	rows, _, err := a.fetchRows(ctx, "memories", url.Values{"include_memory_entries": {"true"}}, "memories", "items")
	return inventoryPage(v, rows, "", memoryFromRow), err
}

// ownGPTsPage reads a page of the person's own GPTs.
func (a *siteClient) ownGPTsPage(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
	query := url.Values{"limit": {"100"}}
	if v.Token != "" {
		query.Set("cursor", v.Token)
	}
	rows, next, err := a.fetchRows(ctx, "gizmos/mine", query, "items", "gizmos", "cuts")
	return inventoryPage(v, rows, next, gptFromRow), err
}

// sharedLinksPage reads a page of shared conversations. The list ends with an empty page: what it
// announces as its length is not true, and a short page may be the site's choice.
func (a *siteClient) sharedLinksPage(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage,
	error) {
	offset, _ := strconv.Atoi(v.Token) // none is the first
	query := url.Values{"offset": {strconv.Itoa(offset)}, "limit": {strconv.Itoa(maxListPageSize)}, "order": {"created"}}
	rows, _, err := a.fetchRows(ctx, "shared_conversations", query, "items")
	next := ""
	if len(rows) > 0 {
		next = strconv.Itoa(offset + len(rows))
	}
	return inventoryPage(v, rows, next, shareFromRow), err
}

// inventoryPage reads the rows of a page. The site has no version for a page, so the version is a digest of its
// content.
func inventoryPage(v connectorkit.PageRequest, rows []jsontext.Value, next string, read func(jsontext.Value) (string,
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
func (a *siteClient) instructions(ctx context.Context, _ connectorkit.Cursor) (connectorkit.Page, error) {
	resp, err := a.sendRequest(ctx, a.lists, governhttp.Request{Path: "user_system_messages"})
	if err != nil {
		return connectorkit.Page{}, err
	}
	var w struct {
		About   jsontext.Value `json:"about_user_message"`
		Style   jsontext.Value `json:"about_model_message"`
		Enabled *bool          `json:"enabled"`
		Updated flexibleTime   `json:"updated_at"`
	}
	if err := decodeLenient(resp.Body, &w); err != nil {
		return connectorkit.Page{}, connectorkit.Fail(connectorkit.Malformed, err)
	}
	if len(w.About) == 0 && len(w.Style) == 0 && w.Enabled == nil {
		return connectorkit.Page{}, connectorkit.Fail(connectorkit.Malformed, errUnexpectedShape)
	}
	rec := instructionsRecord{ID: streamInstructions, Enabled: w.Enabled, UpdatedAt: w.Updated.recordTime()}
	_ = decodeLenient(w.About, &rec.About) // null is nothing
	_ = decodeLenient(w.Style, &rec.Style)
	rec.About, rec.Style = validOrNil(rec.About), validOrNil(rec.Style)
	return connectorkit.Page{Records: []connectorkit.Record{connectorkit.Upsert(rec)},
		Next: connectorkit.Cursor{"read": "once"}}, nil
}

type instructionsRecord struct {
	ID        string  `json:"id"`
	About     *string `json:"about_user"`
	Style     *string `json:"response_style"`
	Enabled   *bool   `json:"enabled"`
	UpdatedAt *string `json:"updated_at"`
}

func memoryFromRow(raw jsontext.Value) (string, connectorkit.Record) {
	var w struct {
		ID      string       `json:"id"`
		Content *string      `json:"content"`
		Created flexibleTime `json:"created_at"`
		Updated flexibleTime `json:"updated_at"`
	}
	if err := decodeLenient(raw, &w); err != nil || w.ID == "" || w.Content == nil {
		return "", connectorkit.Unreadable(validUTF8(w.ID), err)
	}
	return validUTF8(w.ID), connectorkit.Upsert(map[string]any{
		"id": validUTF8(w.ID), "content": validUTF8(*w.Content), "created_at": w.Created.recordTime(),
		"updated_at": w.Updated.recordTime(),
	})
}

// wireGPTBody is one of the person's own GPTs. It may be nested in resource.gizmo or gizmo.
type wireGPTBody struct {
	ID           string           `json:"id"`
	ShortURL     *string          `json:"short_url"`
	Instructions *string          `json:"instructions"`
	Tools        []jsontext.Value `json:"tools"`
	Created      flexibleTime     `json:"created_at"`
	Updated      flexibleTime     `json:"updated_at"`
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

type ownGPTRecord struct {
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

func gptFromRow(raw jsontext.Value) (string, connectorkit.Record) {
	inner, tools := raw, jsontext.Value(nil)
	for range 3 {
		var nest struct {
			Resource jsontext.Value `json:"resource"`
			Gizmo    jsontext.Value `json:"gizmo"`
			Tools    jsontext.Value `json:"tools"`
		}
		if decodeLenient(inner, &nest) != nil {
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
	var w wireGPTBody
	if err := decodeLenient(inner, &w); err != nil || w.ID == "" {
		return "", connectorkit.Unreadable(validUTF8(w.ID), err)
	}
	rec := ownGPTRecord{
		ID: validUTF8(w.ID), ShortURL: validOrNil(w.ShortURL), Name: validOrNil(w.Display.Name),
		Description:  validOrNil(w.Display.Description),
		Welcome:      validOrNil(w.Display.Welcome),
		Instructions: validOrNil(w.Instructions), Tools: []jsontext.Value{}, CreatedAt: w.Created.recordTime(),
		UpdatedAt: w.Updated.recordTime(),
		AuthorID:  validOrNil(w.Author.ID), AuthorName: validOrNil(w.Author.Name), Tags: []string{},
	}
	if w.Recipient != nil {
		public := *w.Recipient == "marketplace" || *w.Recipient == "link"
		rec.Public = &public
	}
	if len(w.Display.Categories) > 0 {
		rec.Category = nonEmptyOrNil(w.Display.Categories[0])
	}
	for _, tag := range w.Tags {
		rec.Tags = append(rec.Tags, validUTF8(tag))
	}
	if w.Tools == nil && tools != nil {
		_ = decodeLenient(tools, &w.Tools) // it is a list
	}
	for _, tool := range w.Tools {
		rec.Tools = append(rec.Tools, wellFormedValue(tool))
	}
	return rec.ID, connectorkit.Upsert(rec)
}
