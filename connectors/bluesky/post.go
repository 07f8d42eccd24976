package bluesky

import (
	"github.com/go-json-experiment/json"
)

type postRecord struct {
	place
	Text           string   `json:"text"`
	Languages      []string `json:"languages,omitempty"`
	Tags           []string `json:"tags,omitempty"`
	MentionedDIDs  []string `json:"mentioned_dids,omitempty"`
	Links          []string `json:"links,omitempty"`
	ReplyParentURI string   `json:"reply_parent_uri,omitzero"`
	ReplyRootURI   string   `json:"reply_root_uri,omitzero"`
	QuotedURI      string   `json:"quoted_uri,omitzero"`
	Card           *card    `json:"card,omitzero"`
	Images         []file   `json:"images,omitempty"`
	Video          *file    `json:"video,omitzero"`
	Labels         []string `json:"labels,omitempty"`
}

// card is the preview of a page that a post links to.
type card struct {
	URL         string `json:"url"`
	Title       string `json:"title,omitzero"`
	Description string `json:"description,omitzero"`
	Thumb       *file  `json:"thumb,omitzero"`
}

// embed is what hangs on a post. Its kinds have no member in common but Media, which holds another.
type embed struct {
	Images []struct {
		Image *blob  `json:"image"`
		Alt   string `json:"alt"`
	} `json:"images"`
	Video    *blob  `json:"video"`
	Alt      string `json:"alt"`
	External *struct {
		URI         string `json:"uri"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Thumb       *blob  `json:"thumb"`
	} `json:"external"`
	Record *struct {
		URI    string     `json:"uri"`
		Record *strongRef `json:"record"` // beside media
	} `json:"record"`
	Media *embed `json:"media"`
}

func post(e entry) (any, error) {
	var v struct {
		Text      string   `json:"text"`
		CreatedAt string   `json:"createdAt"`
		Langs     []string `json:"langs"`
		Tags      []string `json:"tags"`
		Reply     struct {
			Root   strongRef `json:"root"`
			Parent strongRef `json:"parent"`
		} `json:"reply"`
		Facets []struct {
			Features []struct {
				URI string `json:"uri"`
				DID string `json:"did"`
				Tag string `json:"tag"`
			} `json:"features"`
		} `json:"facets"`
		Embed  *embed `json:"embed"`
		Labels struct {
			Values []struct {
				Val string `json:"val"`
			} `json:"values"`
		} `json:"labels"`
	}
	if err := json.Unmarshal(e.Value, &v); err != nil {
		return nil, err
	}
	p := postRecord{
		place: e.place(v.CreatedAt), Text: v.Text, Languages: v.Langs, Tags: v.Tags,
		ReplyParentURI: v.Reply.Parent.URI, ReplyRootURI: v.Reply.Root.URI,
	}
	for _, facet := range v.Facets {
		for _, f := range facet.Features {
			switch {
			case f.URI != "":
				p.Links = append(p.Links, f.URI)
			case f.DID != "":
				p.MentionedDIDs = append(p.MentionedDIDs, f.DID)
			case f.Tag != "":
				p.Tags = append(p.Tags, f.Tag)
			}
		}
	}
	for _, l := range v.Labels.Values {
		p.Labels = append(p.Labels, l.Val)
	}
	p.take(v.Embed)
	if v.Embed != nil {
		p.take(v.Embed.Media)
	}
	return p, nil
}

// take adds what hangs on the post.
func (p *postRecord) take(e *embed) {
	if e == nil {
		return
	}
	for _, i := range e.Images {
		if f := i.Image.file(i.Alt); f != nil {
			p.Images = append(p.Images, *f)
		}
	}
	if f := e.Video.file(e.Alt); f != nil {
		p.Video = f
	}
	if x := e.External; x != nil {
		p.Card = &card{x.URI, x.Title, x.Description, x.Thumb.file("")}
	}
	if r := e.Record; r != nil {
		p.QuotedURI = r.URI
		if r.Record != nil {
			p.QuotedURI = r.Record.URI
		}
	}
}
