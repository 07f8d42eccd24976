package pocket

import (
	"context"
	"errors"
	"io"
	"strings"

	"golang.org/x/net/html"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
)

// readHTMLPage reads a list of links below the headings Unread and Read Archive.
func readHTMLPage(ctx context.Context, m *localarchive.Member) error {
	in, err := m.Open(ctx, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	var from rowPosition
	m.State(&from)
	tokens := html.NewTokenizer(localarchive.DecodedText(in))
	tokens.SetMaxBuf(1 << 20)
	known, met, rows := linkKeys{}, false, int64(0)
	status, heading := "", false
	var link *html.Token
	var title strings.Builder
	emit := func() error {
		if link == nil {
			return nil
		}
		attr := func(name string) string {
			for _, a := range link.Attr {
				if a.Key == name {
					return a.Val
				}
			}
			return ""
		}
		one, ok := known.newSavedItem(attr("href"), title.String(), attr("time_added"), status,
			strings.Split(attr("tags"), ","))
		link = nil
		title.Reset()
		if rows++; rows <= from.Rows {
			return nil
		}
		if ok {
			m.Emit("items", connectorkit.Upsert(one))
		} else {
			m.Row(rows-1, 0)
		}
		return m.Place(ctx, func() any { return rowPosition{rows} })
	}
	for {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			if err := tokens.Err(); !errors.Is(err, io.EOF) {
				return err
			}
			if !met && rows == 0 {
				return localarchive.OtherKind("the page is no list of Pocket")
			}
			return emit()
		case html.StartTagToken, html.EndTagToken:
			t := tokens.Token()
			switch {
			case t.Data == "h1":
				if heading = kind == html.StartTagToken; heading {
					status = ""
				}
			case t.Data == "a" && kind == html.StartTagToken:
				if err := emit(); err != nil { // the file never closes it
					return err
				}
				link = &t
			case t.Data == "a":
				if err := emit(); err != nil {
					return err
				}
			}
		case html.TextToken:
			text := string(tokens.Text())
			switch {
			case heading:
				switch strings.ToLower(strings.TrimSpace(text)) {
				case "unread":
					status, met = "unread", true
				case "read archive":
					status, met = "archive", true
				}
			case link != nil:
				title.WriteString(strings.ToValidUTF8(text, "\uFFFD"))
			}
		}
	}
}
