function %(complete_func)s
    for line in (COMP_WORDS=(commandline -cp) %(complete_var)s=fish_complete %(program)s 2>/dev/null)
        set -l fields (string split \t -- $line)
        switch $fields[1]
            case plain
                string join \t -- $fields[2..]
            case file dir
                __fish_complete_path (commandline -ct)
        end
    end
end
complete --no-files --keep-order --command %(prog_name)s --arguments "(%(complete_func)s)"
