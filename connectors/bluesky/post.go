package bluesky

import (
	"github.com/go-json-experiment/json"
)

type postRecord struct {
	recordPlace
	Text           string       `json:"text"`
	Languages      []string     `json:"languages,omitempty"`
	Tags           []string     `json:"tags,omitempty"`
	MentionedDIDs  []string     `json:"mentioned_dids,omitempty"`
	Links          []string     `json:"links,omitempty"`
	ReplyParentURI string       `json:"reply_parent_uri,omitzero"`
	ReplyRootURI   string       `json:"reply_root_uri,omitzero"`
	QuotedURI      string       `json:"quoted_uri,omitzero"`
	Card           *linkCard    `json:"card,omitzero"`
	Images         []recordFile `json:"images,omitempty"`
	Video          *recordFile  `json:"video,omitzero"`
	Labels         []string     `json:"labels,omitempty"`
}

// linkCard is the preview of a page that a post links to.
type linkCard struct {
	URL         string      `json:"url"`
	Title       string      `json:"title,omitzero"`
	Description string      `json:"description,omitzero"`
	Thumb       *recordFile `json:"thumb,omitzero"`
}

// postEmbed is what hangs on a post. Its kinds have no member in common but Media, which holds another.
type postEmbed struct {
	Images []struct {
		Image *blobReference `json:"image"`
		Alt   string         `json:"alt"`
	} `json:"images"`
	Video    *blobReference `json:"video"`
	Alt      string         `json:"alt"`
	External *struct {
		URI         string         `json:"uri"`
		Title       string         `json:"title"`
		Description string         `json:"description"`
		Thumb       *blobReference `json:"thumb"`
	} `json:"external"`
	Record *struct {
		URI    string           `json:"uri"`
		Record *recordReference `json:"record"` // beside media
	} `json:"record"`
	Media *postEmbed `json:"media"`
}

func postRecordOf(e repositoryEntry) (any, error) {
	var v struct {
		Text      string   `json:"text"`
		CreatedAt string   `json:"createdAt"`
		Langs     []string `json:"langs"`
		Tags      []string `json:"tags"`
		Reply     struct {
			Root   recordReference `json:"root"`
			Parent recordReference `json:"parent"`
		} `json:"reply"`
		Facets []struct {
			Features []struct {
				URI string `json:"uri"`
				DID string `json:"did"`
				Tag string `json:"tag"`
			} `json:"features"`
		} `json:"facets"`
		Embed  *postEmbed `json:"embed"`
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
		recordPlace: e.placeOf(v.CreatedAt), Text: v.Text, Languages: v.Langs, Tags: v.Tags,
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
	p.addEmbed(v.Embed)
	if v.Embed != nil {
		p.addEmbed(v.Embed.Media)
	}
	return p, nil
}

// addEmbed adds what hangs on the post.
func (p *postRecord) addEmbed(e *postEmbed) {
	if e == nil {
		return
	}
	for _, i := range e.Images {
		if f := i.Image.toRecordFile(i.Alt); f != nil {
			p.Images = append(p.Images, *f)
		}
	}
	if f := e.Video.toRecordFile(e.Alt); f != nil {
		p.Video = f
	}
	if x := e.External; x != nil {
		p.Card = &linkCard{x.URI, x.Title, x.Description, x.Thumb.toRecordFile("")}
	}
	if r := e.Record; r != nil {
		p.QuotedURI = r.URI
		if r.Record != nil {
			p.QuotedURI = r.Record.URI
		}
	}
}
