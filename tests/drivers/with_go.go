package main

import (
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lib/pq"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	c, err := sql.Open("postgres", "sslmode=disable")
	must(err)
	defer c.Close()
	put, err := c.Prepare("INSERT INTO item (name, price) VALUES ($1, $2)")
	must(err)
	_, err = put.Exec("fig", "2.25")
	must(err)
	var id, count int
	var name, price string
	must(c.QueryRow("SELECT name, price FROM item WHERE name = $1", "fig").
		Scan(&name, &price))
	fmt.Println("prepared", name, price)
	t, err := c.Begin()
	must(err)
	_, err = t.Exec("DELETE FROM item")
	must(err)
	must(t.Rollback())
	must(c.QueryRow("SELECT count(*) FROM item").Scan(&count))
	fmt.Println("rolled back", count)
	_, err = c.Exec("INSERT INTO item (name) VALUES ('plum')")
	var of *pq.Error
	if errors.As(err, &of) {
		fmt.Println("error", of.Code)
	}
	var good bool
	var made time.Time
	var tags []string
	var big int64
	var raw []byte
	var nothing sql.NullInt32
	must(c.QueryRow("SELECT * FROM item WHERE name = $1", "plum").
		Scan(&id, &name, &price, &good, &made, pq.Array(&tags), &big,
			&raw, &nothing))
	last := "null"
	if nothing.Valid {
		last = "a number"
	}
	fmt.Println("types", id, name, price, good, made.Format("2006-01-02"),
		strings.Join(tags, ","), big, hex.EncodeToString(raw), last)
}
