package dav

import (
	"bytes"
	"encoding/xml"
	"io"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"
)

// multistatus is the answer to PROPFIND and REPORT.
type multistatus struct {
	Responses []davResponse `xml:"DAV: response"`
	SyncToken string        `xml:"DAV: sync-token"`
}

type davResponse struct {
	Href   string           `xml:"DAV: href"`
	Status string           `xml:"DAV: status"`
	Props  []propertyStatus `xml:"DAV: propstat"`
}

type propertyStatus struct {
	Status string        `xml:"DAV: status"`
	Prop   davProperties `xml:"DAV: prop"`
}

type hrefElement struct {
	Href string `xml:"DAV: href"`
}

// davProperties holds every property that is asked for; those of one answer are few of them.
type davProperties struct {
	Types struct {
		Any []struct{ XMLName xml.Name } `xml:",any"`
	} `xml:"DAV: resourcetype"`
	Name      string      `xml:"DAV: displayname"`
	ETag      string      `xml:"DAV: getetag"`
	Modified  string      `xml:"DAV: getlastmodified"`
	SyncToken string      `xml:"DAV: sync-token"`
	CTag      string      `xml:"http://calendarserver.org/ns/ getctag"`
	Principal hrefElement `xml:"DAV: current-user-principal"`
	Calendars hrefElement `xml:"urn:ietf:params:xml:ns:caldav calendar-home-set"`
	Books     hrefElement `xml:"urn:ietf:params:xml:ns:carddav addressbook-home-set"`

	CalendarText string `xml:"urn:ietf:params:xml:ns:caldav calendar-description"`
	BookText     string `xml:"urn:ietf:params:xml:ns:carddav addressbook-description"`
	Color        string `xml:"http://apple.com/ns/ical/ calendar-color"`
	Zone         string `xml:"urn:ietf:params:xml:ns:caldav calendar-timezone"`
	Components   struct {
		Comp []struct {
			Name string `xml:"name,attr"`
		} `xml:"urn:ietf:params:xml:ns:caldav comp"`
	} `xml:"urn:ietf:params:xml:ns:caldav supported-calendar-component-set"`

	Calendar string `xml:"urn:ietf:params:xml:ns:caldav calendar-data"`
	Card     string `xml:"urn:ietf:params:xml:ns:carddav address-data"`
}

// hasType reports whether the resource is of that type.
func (p *davProperties) hasType(space, name string) bool {
	for _, t := range p.Types.Any {
		if t.XMLName.Local == name && (space == "" || t.XMLName.Space == space) {
			return true
		}
	}
	return false
}

// foundProperties returns the properties that the server has.
func (r davResponse) foundProperties() davProperties {
	for _, p := range r.Props {
		if p.Status == "" || statusCode(p.Status) == 200 {
			return p.Prop
		}
	}
	return davProperties{}
}

// statusCode reads "HTTP/1.1 404 Not Found"; zero if there is no number.
func statusCode(line string) int {
	fields := strings.Fields(line)
	n := 0
	if len(fields) > 1 && len(fields[1]) == 3 {
		for _, c := range fields[1] {
			if c < '0' || c > '9' {
				return 0
			}
			n = 10*n + int(c-'0')
		}
	}
	return n
}

// parseMultistatus reads an answer. A server copies what objects hold into it, and some copy what
// is invalid in XML: such characters are replaced.
func parseMultistatus(body []byte) (multistatus, error) {
	m, err := decodeMultistatus(body)
	if err != nil {
		m, err = decodeMultistatus(replaceInvalidXML(body))
	}
	return m, err
}

func decodeMultistatus(body []byte) (multistatus, error) {
	d := xml.NewDecoder(bytes.NewReader(body))
	d.CharsetReader = func(name string, in io.Reader) (io.Reader, error) {
		if strings.EqualFold(name, "utf-8") || strings.EqualFold(name, "us-ascii") {
			return in, nil
		}
		b, err := io.ReadAll(in) // of Latin-1 each byte is the character of its number
		out := make([]rune, len(b))
		for i, c := range b {
			out[i] = rune(c)
		}
		return strings.NewReader(string(out)), err
	}
	var m multistatus
	err := d.Decode(&m)
	return m, err
}

// replaceInvalidXML replaces what is no character in XML.
func replaceInvalidXML(body []byte) []byte {
	out := make([]byte, 0, len(body))
	for len(body) > 0 {
		r, n := utf8.DecodeRune(body)
		legal := r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd || r >= 0x10000
		if r == utf8.RuneError && n == 1 || !legal {
			out = utf8.AppendRune(out, utf8.RuneError)
		} else {
			out = append(out, body[:n]...)
		}
		body = body[n:]
	}
	return out
}

// pathFromHref is the path of an address as a server names it: absolute or not, escaped in any way.
func pathFromHref(href string) (string, bool) {
	u, err := url.Parse(strings.TrimSpace(href))
	if err != nil || !strings.HasPrefix(u.Path, "/") {
		return "", false
	}
	p := path.Clean(u.Path)
	if strings.HasSuffix(u.Path, "/") && p != "/" {
		p += "/"
	}
	return p, true
}
