package syntax

import (
	"strings"
	"time"
)

// ParseTime parses a date like datetime("..."): 2018-03, 2018-03-22,
// 2018-03-22T00:35, with seconds, a fraction and an offset such as Z, +0130,
// +01:30 or +01:30:15. Without an offset it is UTC.
func ParseTime(s string) (time.Time, bool) {
	c := cursor{s: s}
	year, okYear := c.digits(4)
	okYear = okYear && c.skipByte('-')
	month, ok := c.digits(2)
	if !okYear || !ok || month < 1 || month > 12 {
		return time.Time{}, false
	}
	if c.s == "" {
		return time.Date(year, time.Month(month), 1, 0, 0, 0, 0, time.UTC), true
	}
	ok = c.skipByte('-')
	day, okDay := c.digits(2)
	if !ok || !okDay || day < 1 || day > daysIn(year, time.Month(month)) {
		return time.Time{}, false
	}
	if c.s == "" {
		return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC), true
	}
	if !c.skipByte('T') && !c.skipByte('t') {
		return time.Time{}, false
	}
	h, m, sec, nanos, ok := c.clock()
	if !ok {
		return time.Time{}, false
	}
	zone, ok := c.offset()
	if !ok || c.s != "" {
		return time.Time{}, false
	}
	return time.Date(year, time.Month(month), day, h, m, sec, nanos, zone), true
}

// cursor consumes a text from the left.
type cursor struct{ s string }

func (c *cursor) skipByte(b byte) bool {
	if c.s == "" || c.s[0] != b {
		return false
	}
	c.s = c.s[1:]
	return true
}

// digits consumes exactly n digits.
func (c *cursor) digits(n int) (v int, ok bool) {
	if len(c.s) < n {
		return 0, false
	}
	for i := range n {
		if !isDigit(c.s[i]) {
			return 0, false
		}
		v = v*10 + int(c.s[i]-'0')
	}
	c.s = c.s[n:]
	return v, true
}

// clock consumes HH:mm, HH:mm:ss or HH:mm:ss.fraction.
func (c *cursor) clock() (h, m, s, nanos int, ok bool) {
	h, okHour := c.digits(2)
	okHour = okHour && c.skipByte(':')
	m, ok = c.digits(2)
	if !okHour || !ok || h > 23 || m > 59 {
		return 0, 0, 0, 0, false
	}
	if !c.skipByte(':') {
		return h, m, 0, 0, true
	}
	s, ok = c.digits(2)
	if !ok || s > 59 {
		return 0, 0, 0, 0, false
	}
	if c.skipByte('.') {
		n := 0
		for ; n < len(c.s) && isDigit(c.s[n]); n++ {
		}
		if n > 9 {
			return 0, 0, 0, 0, false
		}
		nanos, _ = (&cursor{c.s[:n] + "000000000"[n:]}).digits(9) // the fraction, padded to nine digits
		c.s = c.s[n:]
	}
	return h, m, s, nanos, true
}

// offset consumes nothing, Z, +HHMM, +HHMMss, +HH:MM or +HH:MM:ss.
func (c *cursor) offset() (*time.Location, bool) {
	if c.s == "" || strings.EqualFold(c.s, "Z") {
		c.s = ""
		return time.UTC, true
	}
	sign := 1
	if c.skipByte('-') {
		sign = -1
	} else if !c.skipByte('+') {
		return nil, false
	}
	h, ok := c.digits(2)
	if !ok {
		return nil, false
	}
	colon := c.skipByte(':')
	m, ok := c.digits(2)
	s := 0
	if ok && c.s != "" {
		if colon && !c.skipByte(':') {
			return nil, false
		}
		s, ok = c.digits(2)
	}
	seconds := h*3600 + m*60 + s
	if !ok || m > 59 || s > 59 || seconds > 18*3600 {
		return nil, false
	}
	if seconds == 0 {
		return time.UTC, true
	}
	return time.FixedZone("", sign*seconds), true
}

func daysIn(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}
