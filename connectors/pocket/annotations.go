package pocket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

type highlightRecord struct {
	ID        string `json:"id"`
	URL       string `json:"url"`
	Title     string `json:"title,omitzero"`
	Quote     string `json:"quote"`
	CreatedAt string `json:"created_at,omitzero"`
}

// readAnnotations reads the highlights of articles, one article for each element.
func readAnnotations(ctx context.Context, m *localarchive.Member) error {
	in, err := m.Open(ctx, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	var from localarchive.ListPlace
	m.State(&from)
	return localarchive.ReadLists(ctx, in, from, nil, func(at localarchive.ListPlace, element jsontext.Value) error {
		var article struct {
			URL        string
			Title      string
			Highlights []struct {
				Quote     string
				CreatedAt jsontext.Value `json:"created_at"`
			}
		}
		err := json.Unmarshal(element, &article, json.MatchCaseInsensitiveNames(true), jsontext.AllowInvalidUTF8(true),
			jsontext.AllowDuplicateNames(true))
		if err != nil || article.URL == "" {
			m.Row(at.Index, int64(len(element)))
			article.Highlights = nil
		}
		for _, h := range article.Highlights {
			if h.Quote == "" {
				m.Row(at.Index, int64(len(element)))
				continue
			}
			created := ""
			switch h.CreatedAt.Kind() {
			case '0':
				created = localfile.RecordTime(string(h.CreatedAt))
			case '"':
				if json.Unmarshal(h.CreatedAt, &created) == nil {
					created = localfile.RecordTime(created)
				}
			}
			sum := sha256.Sum256([]byte(normalised(article.URL) + "\x00" + h.Quote + "\x00" + created))
			m.Emit("highlights", connectorkit.Upsert(highlightRecord{hex.EncodeToString(sum[:16]), article.URL, article.Title,
				h.Quote,
				created}))
		}
		at.Index++
		return m.Place(ctx, func() any { return at })
	})
}
