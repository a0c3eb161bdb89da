// A process that forks has a child with one thread: the others are gone there, whatever they were
// in the middle of.
#pragma once

#include <functional>
#include <list>
#include <memory>

namespace heddle {

// Work that must not stand half done in a child: a fork waits until it is over, for some seconds.
// Holds may be nested, and taken by several threads that work for each other.
class ForkHold {
 public:
  ForkHold();
  ~ForkHold();
  ForkHold(const ForkHold&) = delete;
  ForkHold& operator=(const ForkHold&) = delete;
};

// Something to do in every child, before anybody else runs there: threads are to be forgotten and
// locks that they may hold to be made anew. It must not register another one.
class AfterFork {
 public:
  explicit AfterFork(std::function<void()> in_child);
  ~AfterFork();
  AfterFork(const AfterFork&) = delete;
  AfterFork& operator=(const AfterFork&) = delete;

 private:
  std::list<std::function<void()>>::iterator at_;
};

// As it was made first, in a child. What it held is left: to destroy a lock that somebody waits
// for, or a thread that is not there, never ends.
template <typename T>
void make_anew(T& thing) {
  std::construct_at(std::addressof(thing));
}

}  // namespace heddle
