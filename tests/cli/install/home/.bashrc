case $- in *i*) ;; *) return ;; esac
HISTSIZE=1000
PS1='\u@\h:\w\$ '
alias ll='ls -l'