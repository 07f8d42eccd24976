package message

import (
	netmail "net/mail"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// trimAngleBrackets is an id without the marks around it.
func trimAngleBrackets(value string) string {
	value = decodeHeaderWords(value)
	if _, rest, ok := strings.Cut(value, "<"); ok {
		value, _, _ = strings.Cut(rest, ">")
	}
	return strings.TrimSpace(value)
}

// messageIDs are those of a header, in their order.
func messageIDs(value string) (out []string) {
	value = decodeHeaderWords(value)
	for len(out) < maxReferences {
		_, rest, ok := strings.Cut(value, "<")
		if !ok {
			return out
		}
		var id string
		if id, value, ok = strings.Cut(rest, ">"); !ok {
			return out
		}
		if id = localfile.ShortText(strings.TrimSpace(id), maxTextBytes); id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

var addressParser = netmail.AddressParser{WordDecoder: &wordDecoder}

// parseAddresses reads lists of addresses; one that does not keep the rules is read for what looks like
// an address.
func parseAddresses(values []string) (out []*netmail.Address) {
	for _, value := range values {
		value = decodeCharset([]byte(value), "")
		list, err := addressParser.ParseList(value)
		if err != nil {
			list = nil
			for _, part := range strings.Split(value, ",") {
				a := &netmail.Address{}
				name, rest, marked := strings.Cut(part, "<")
				if marked {
					a.Address, _, _ = strings.Cut(rest, ">")
					a.Name = strings.Trim(decodeHeaderWords(name), `"' `)
				} else if strings.Contains(part, "@") {
					a.Address = part
				} else {
					a.Name = decodeHeaderWords(part)
				}
				if a.Address = decodeHeaderWords(a.Address); a.Address != "" || a.Name != "" {
					list = append(list, a)
				}
			}
		}
		for _, a := range list {
			if len(out) < maxAddresses {
				out = append(out, &netmail.Address{Name: localfile.ShortText(decodeHeaderWords(a.Name), 300),
					Address: localfile.ShortText(decodeHeaderWords(a.Address), 300)})
			}
		}
	}
	return out
}

func displayAddress(a *netmail.Address) string {
	switch {
	case a.Name == "":
		return a.Address
	case a.Address == "":
		return a.Name
	}
	return a.Name + " <" + a.Address + ">"
}
