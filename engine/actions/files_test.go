package actions_test

import (
	"strings"
	"testing"

	"sluice/engine/action"
)

func field(parts ...string) string {
	var b strings.Builder
	b.WriteString("<fields><field>")
	for _, p := range parts {
		k, v, _ := strings.Cut(p, "=")
		b.WriteString("<" + k + ">" + v + "</" + k + ">")
	}
	return b.String() + "</field></fields>"
}

func pair(from, to, mask string) string {
	return field("source_filefolder=${DIR}/"+from, "destination_filefolder=${DIR}/"+to, "wildcard="+mask)
}

func TestFileActions(t *testing.T) {
	const have = "in/ in/a.txt=A in/b.csv=B in/deep/ in/deep/c.txt=C out/ out/a.txt=old"
	cases := map[string]struct {
		kind, xml string
		ok        bool
		errors    int64
		failed    bool // Run gives an error
		want      string
	}{
		"copy by mask keeps what exists": {
			kind: "COPY_FILES", xml: pair("in", "out", `.*\.txt`), ok: true, want: have,
		},
		"copy overwrites, with subfolders": {
			kind: "COPY_FILES", xml: pair("in", "out", `.*\.txt`) + "<overwrite_files>Y</overwrite_files><include_subfolders>Y</include_subfolders>", ok: true,
			want: "in/ in/a.txt=A in/b.csv=B in/deep/ in/deep/c.txt=C out/ out/a.txt=A out/deep/ out/deep/c.txt=C",
		},
		"copy to a file, made with its folder, the source removed": {
			kind: "COPY_FILES", xml: field("source_filefolder=EMPTY_SOURCE_URL-0-${DIR}/in/b.csv", "destination_filefolder=EMPTY_DEST_URL-0-${DIR}/new/x.csv") +
				"<destination_is_a_file>Y</destination_is_a_file><create_destination_folder>Y</create_destination_folder><remove_source_files>Y</remove_source_files>",
			ok: true, want: "in/ in/a.txt=A in/deep/ in/deep/c.txt=C new/ new/x.csv=B out/ out/a.txt=old",
		},
		"copy without a target folder": {kind: "COPY_FILES", xml: pair("in", "none", ""), errors: 1, want: have},
		"copy of nothing":              {kind: "COPY_FILES", xml: pair("zzz", "out", ""), errors: 1, want: have},
		"move leaves what exists when the file does not say": {
			kind: "MOVE_FILES", xml: pair("in", "out", `a\.txt`), ok: true, want: have,
		},
		"move overwrites": {
			kind: "MOVE_FILES", xml: pair("in", "out", `a\.txt`) + "<iffileexists>overwrite_file</iffileexists>", ok: true,
			want: "in/ in/b.csv=B in/deep/ in/deep/c.txt=C out/ out/a.txt=A",
		},
		"move fails": {kind: "MOVE_FILES", xml: pair("in", "out", `a\.txt`) + "<iffileexists>fail</iffileexists>", errors: 1, want: have},
		"move gives another name": {
			kind: "MOVE_FILES", xml: pair("in", "out", `a\.txt`) + "<iffileexists>unique_name</iffileexists>", ok: true,
			want: "in/ in/b.csv=B in/deep/ in/deep/c.txt=C out/ out/a.txt=old out/a_20260304_050607008.txt=A",
		},
		"move adds the date before the extension": {
			kind: "MOVE_FILES", xml: pair("in", "out", `a\.txt`) + "<add_date>Y</add_date><AddDateBeforeExtension>Y</AddDateBeforeExtension>", ok: true,
			want: "in/ in/b.csv=B in/deep/ in/deep/c.txt=C out/ out/a.txt=old out/a_20260304.txt=A",
		},
		"move only says so": {
			kind: "MOVE_FILES", xml: pair("in", "out", ".*") + "<iffileexists>overwrite_file</iffileexists><simulate>Y</simulate>", ok: true, want: have,
		},
		"delete files by mask, folders stay": {
			kind: "DELETE_FILES", xml: field("name=${DIR}/in", `filemask=.*\.txt`) + "<include_subfolders>Y</include_subfolders>", ok: true,
			want: "in/ in/b.csv=B in/deep/ out/ out/a.txt=old",
		},
		"delete what is not there":      {kind: "DELETE_FILE", xml: "<filename>${DIR}/zzz</filename>", ok: true, want: have},
		"delete what has to be there":   {kind: "DELETE_FILE", xml: "<filename>${DIR}/zzz</filename><fail_if_file_not_exists>Y</fail_if_file_not_exists>", failed: true, want: have},
		"delete folders":                {kind: "DELETE_FOLDERS", xml: field("name=${DIR}/in"), ok: true, want: "out/ out/a.txt=old"},
		"a file is no folder":           {kind: "DELETE_FOLDERS", xml: field("name=${DIR}/out/a.txt"), errors: 1, want: have},
		"create a file that exists":     {kind: "CREATE_FILE", xml: "<filename>${DIR}/out/a.txt</filename>", ok: true, want: have},
		"create a file that must not":   {kind: "CREATE_FILE", xml: "<filename>${DIR}/out/a.txt</filename><fail_if_file_exists>Y</fail_if_file_exists>", failed: true, want: have},
		"create a folder that must not": {kind: "CREATE_FOLDER", xml: "<foldername>${DIR}/out</foldername><fail_of_folder_exists>Y</fail_of_folder_exists>", failed: true, want: have},
		"append to a file": {
			kind: "WRITE_TO_FILE", xml: "<filename>${DIR}/out/a.txt</filename><appendFile>Y</appendFile><content>er</content>", ok: true,
			want: strings.Replace(have, "=old", "=older", 1),
		},
		"file exists":          {kind: "FILE_EXISTS", xml: "<filename>${DIR}/out/a.txt</filename>", ok: true, want: have},
		"file does not exist":  {kind: "FILE_EXISTS", xml: "<filename>${DIR}/out/z.txt</filename>", want: have},
		"files exist by mask":  {kind: "FILES_EXIST", xml: field("name=${DIR}/in", `filemask=.*\.csv`), ok: true, want: have},
		"no file by that mask": {kind: "FILES_EXIST", xml: field("name=${DIR}/in", `filemask=.*\.xml`), want: have},
		"files differ":         {kind: "FILE_COMPARE", xml: "<filename1>${DIR}/in/a.txt</filename1><filename2>${DIR}/out/a.txt</filename2>", want: have},
		"a file to compare is missing": {
			kind: "FILE_COMPARE", xml: "<filename1>${DIR}/in/a.txt</filename1><filename2>${DIR}/zzz</filename2>", failed: true, want: have,
		},
		"folder is not empty":    {kind: "FOLDER_IS_EMPTY", xml: "<foldername>${DIR}/in</foldername>", want: have},
		"folder has no such":     {kind: "FOLDER_IS_EMPTY", xml: `<foldername>${DIR}/in</foldername><specify_wildcard>Y</specify_wildcard><wildcard>.*\.xml</wildcard>`, ok: true, want: have},
		"number of files":        {kind: "EVAL_FILES_METRICS", xml: field("source_filefolder=${DIR}/in", "include_subFolders=Y") + "<evaluation_type>count</evaluation_type><successnumbercondition>equal</successnumbercondition><comparevalue>3</comparevalue>", ok: true, want: have},
		"size of files in KiB":   {kind: "EVAL_FILES_METRICS", xml: field("source_filefolder=${DIR}/in") + "<scale>kbytes</scale><successnumbercondition>between</successnumbercondition><minvalue>0</minvalue><maxvalue>1</maxvalue>", ok: true, want: have},
		"a value that is none":   {kind: "EVAL_FILES_METRICS", xml: field("source_filefolder=${DIR}/in") + "<comparevalue>x</comparevalue>", failed: true, want: have},
		"a folder that is there": {kind: "WAIT_FOR_FILE", xml: "<filename>${DIR}/in</filename>", ok: true, want: have},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write("in/a.txt", "A")
			b.write("in/b.csv", "B")
			b.write("in/deep/c.txt", "C")
			b.write("out/a.txt", "old")
			r := &action.Result{}
			err := b.run(c.kind, c.xml, r)
			if (err != nil) != c.failed || r.OK != c.ok || r.Errors != c.errors {
				t.Errorf("success %v, %d errors, %v; want %v, %d\n%s", r.OK, r.Errors, err, c.ok, c.errors, b.log)
			}
			if got := b.tree(); got != c.want {
				t.Errorf("left %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestZipAndUnzip(t *testing.T) {
	b := newBench(t)
	b.write("in/a.txt", "A")
	b.write("in/deep/c.txt", "C")
	r := &action.Result{}
	zip := "<zipfilename>${DIR}/z/all.zip</zipfilename><sourcedirectory>${DIR}/in</sourcedirectory><include_subfolders>Y</include_subfolders><createparentfolder>Y</createparentfolder><afterzip>1</afterzip><addfiletoresult>Y</addfiletoresult>"
	if err := b.run("ZIP_FILE", zip, r); err != nil || !r.OK || len(r.ResultFiles) != 1 {
		t.Fatalf("success %v, %v", r.OK, err)
	}
	b.write("in/b.txt", "B")
	if err := b.run("ZIP_FILE", zip+"<ifzipfileexists>1</ifzipfileexists>", r); err != nil || !r.OK {
		t.Fatalf("success %v, %v", r.OK, err)
	}
	unzip := "<zipfilename>${DIR}/z</zipfilename><wildcardSource>.*zip</wildcardSource><targetdirectory>${DIR}/back</targetdirectory><createfolder>Y</createfolder><rootzip>Y</rootzip><afterunzip>1</afterunzip>"
	if err := b.run("UNZIP", unzip, r); err != nil || !r.OK {
		t.Fatalf("success %v, %v\n%s", r.OK, err, b.log)
	}
	want := "back/ back/all/ back/all/a.txt=A back/all/b.txt=B back/all/deep/ back/all/deep/c.txt=C in/ in/deep/ z/"
	if got := b.tree(); got != want {
		t.Errorf("left %s\nwant %s", got, want)
	}
}

func TestResultFiles(t *testing.T) {
	b := newBench(t)
	b.write("in/a.txt", "A")
	b.write("in/b.csv", "B")
	b.write("to/keep", "")
	r := &action.Result{}
	if err := b.run("ADD_RESULT_FILENAMES", field("name=${DIR}/in", `filemask=.*\.txt`), r); err != nil || len(r.ResultFiles) != 1 {
		t.Fatalf("%d files, %v", len(r.ResultFiles), err)
	}
	if err := b.run("COPY_MOVE_RESULT_FILENAMES", "<action>move</action><destination_folder>${DIR}/to</destination_folder><RemovedSourceFilename>Y</RemovedSourceFilename><AddDestinationFilename>Y</AddDestinationFilename>", r); err != nil || !r.OK {
		t.Fatalf("success %v, %v\n%s", r.OK, err, b.log)
	}
	if got, want := b.tree(), "in/ in/b.csv=B to/ to/a.txt=A to/keep="; got != want || len(r.ResultFiles) != 1 || !strings.HasSuffix(r.ResultFiles[0].Path, "/to/a.txt") {
		t.Errorf("left %s, files %v", got, r.ResultFiles)
	}
}
